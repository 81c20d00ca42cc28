#!/usr/bin/env bash
# Installs the accessibility checker in the version of the lock file here:
#   install.sh FOLDER
# It comes from wherever npm is configured to take it. What is installed already is left alone.
set -euo pipefail

[[ $# == 1 ]] || {
    echo "usage: install.sh FOLDER" >&2
    exit 2
}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(realpath -m -- "$1")
mkdir -p "$folder"
cd "$folder"

lock=("$here/package.json" "$here/package-lock.json")
if cat "${lock[@]}" | sha256sum | cmp --quiet - lock.sum; then exit; fi
cp "${lock[@]}" .
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# Only after it is whole: an interrupted installation starts over.
cat "${lock[@]}" | sha256sum >lock.sum
