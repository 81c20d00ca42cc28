#!/usr/bin/env bash
# Installs Python packages, pinned by their hashes, into a virtual environment: install_python.sh REQUIREMENTS FOLDER.
# Packages come from wherever pip is configured to take them. What is installed already is left alone.
set -euo pipefail

[[ $# == 2 ]] || {
    echo "usage: install_python.sh REQUIREMENTS FOLDER" >&2
    exit 2
}
requirements=$1
folder=$(realpath -m -- "$2")
if [[ -f $folder.sum ]] && sha256sum <"$requirements" | cmp --quiet - "$folder.sum"; then exit 0; fi
rm -rf "${folder:?}"
mkdir -p "$(dirname "$folder")"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$requirements"
# Only after it is whole: an interrupted installation starts over.
sha256sum <"$requirements" >"$folder.sum"
