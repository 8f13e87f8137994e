#!/usr/bin/env bash
# Installs the foreign programs that the real tests (npm run test:real) talk to, under .services/ of this checkout:
#   .services/python   a Python environment with grpcio
#   .services/bin      grpcurl, grpc-health-probe
# Does nothing for what is there already. Delete .services/ to start afresh.
set -euo pipefail
cd "$(dirname "$0")/.."

grpcioVersion=1.85.1
grpcurlVersion=v1.9.4
healthProbeVersion=v0.4.63

need() {
  command -v "$1" >/dev/null || { echo "install-peers: $1 is missing. $2" >&2; exit 1; }
}

installPython() {
  local python=.services/python/bin/python
  if [[ -x $python ]] && "$python" -c "import grpc, grpc_reflection, grpc_tools; assert grpc.__version__ == '$grpcioVersion'" 2>/dev/null; then
    return
  fi
  need python3 'Install Python 3.9 or newer (Debian: apt-get install python3 python3-venv).'
  if ! python3 -m venv --clear .services/python; then
    echo 'install-peers: python3 cannot make a virtual environment (Debian: apt-get install python3-venv).' >&2
    exit 1
  fi
  .services/python/bin/pip install --quiet --disable-pip-version-check \
    "grpcio==$grpcioVersion" "grpcio-reflection==$grpcioVersion" "grpcio-tools==$grpcioVersion"
}

installGo() { # program, package, version
  local program=.services/bin/$1
  # A Go program carries the version it was built from.
  [[ -x $program ]] && grep --quiet --text --fixed-strings "$3" "$program" && return
  need go 'Install Go 1.21 or newer (https://go.dev/dl).'
  GOBIN=$PWD/.services/bin go install "$2@$3"
}

mkdir -p .services/bin
installPython
installGo grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl "$grpcurlVersion"
installGo grpc-health-probe github.com/grpc-ecosystem/grpc-health-probe "$healthProbeVersion"
echo 'install-peers: .services/python and .services/bin are ready'
