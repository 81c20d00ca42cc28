#!/usr/bin/env bash
# Installs generators of clients, in the versions of the lock files here: install.sh FOLDER
# python is a virtual environment, node_modules has the rest. Packages come from wherever pip and npm are configured to take them.
# What is installed already is left alone.
set -euo pipefail

[[ $# == 1 ]] || {
    echo "usage: install.sh FOLDER" >&2
    exit 2
}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(realpath -m -- "$1")
mkdir -p "$folder"

"$here/../install_python.sh" "$here/requirements.txt" "$folder/python"

lock=("$here/package.json" "$here/package-lock.json")
if [[ -f $folder/node_modules.sum ]] && cat "${lock[@]}" | sha256sum | cmp --quiet - "$folder/node_modules.sum"; then exit 0; fi
cp "${lock[@]}" "$folder"
(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
# Only after it is whole: an interrupted installation starts over.
cat "${lock[@]}" | sha256sum >"$folder/node_modules.sum"
