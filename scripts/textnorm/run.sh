#!/bin/sh
# Rewrites internal/textnorm/han.txt from the pinned dictionaries.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
dir=$(cd "$tmp" && go mod init x >/dev/null 2>&1 &&
  go mod download -json github.com/longbridgeapp/opencc@v0.3.13 | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
go run ./scripts/textnorm "$dir" internal/textnorm/han.txt
