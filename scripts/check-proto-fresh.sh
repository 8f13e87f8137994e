#!/usr/bin/env bash
# Fails when proto/gen is not what the .proto files generate.
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

buf generate --output "$fresh"
if ! diff --recursive --brief proto/gen "$fresh/proto/gen"; then
  echo 'proto/gen is out of date: run `npm run proto`' >&2
  exit 1
fi
