#!/usr/bin/env bash
# Fails when the .proto files break what the newest release (tag v*) promised; before the first release, what the
# previous commit had.
set -euo pipefail
cd "$(dirname "$0")/.."

base=$(git describe --tags --abbrev=0 --match 'v*' 'HEAD^' 2>/dev/null || git rev-parse --verify --quiet 'HEAD^' || true)
if [[ -z $base ]] || [[ -z $(git ls-tree -r --name-only "$base" -- proto 2>/dev/null | grep '[.]proto$') ]]; then
  echo 'nothing to compare with: no release and no earlier commit that has .proto files'
  exit 0
fi

# The old files are taken out of git by git itself, so that it works in every kind of checkout (worktree, detached).
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
git archive "$base" -- proto | tar -x -C "$old"

echo "comparing with $base"
buf breaking --against "$old" --against-config buf.yaml
