#!/usr/bin/env bash
# Installs what validate.py needs into a virtual environment: install.sh FOLDER. Packages come from wherever pip is
# configured to take them. What is installed already is left alone.
set -euo pipefail

[[ $# == 1 ]] || {
    echo "usage: install.sh FOLDER" >&2
    exit 2
}
requirements=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/requirements.txt
folder=$(realpath -m -- "$1")
if [[ -f $folder.sum ]] && sha256sum <"$requirements" | cmp --quiet - "$folder.sum"; then exit 0; fi
rm -rf "${folder:?}"
mkdir -p "$(dirname "$folder")"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$requirements"
# Only after it is whole: an interrupted installation starts over.
sha256sum <"$requirements" >"$folder.sum"
