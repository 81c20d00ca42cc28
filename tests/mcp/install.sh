#!/usr/bin/env bash
# Installs the official MCP clients and the conformance suite, in the versions of the lock files here:
#   install.sh FOLDER
# python_1 and python_2 are virtual environments, node_modules has the rest and a Node.js of its own. Packages
# come from wherever pip and npm are configured to take them. What is installed already is left alone.
set -euo pipefail

[[ $# == 1 ]] || {
    echo "usage: install.sh FOLDER" >&2
    exit 2
}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(realpath -m -- "$1")
mkdir -p "$folder"

# current NAME FILE...: whether NAME was installed from these files.
current() {
    [[ -f $folder/$1.sum ]] && cat "${@:2}" | sha256sum | cmp --quiet - "$folder/$1.sum"
}

# Only after it is whole: an interrupted installation starts over.
installed() {
    cat "${@:2}" | sha256sum >"$folder/$1.sum"
}

install_python() {
    local name=python_$1 requirements=$here/requirements_$1.txt
    if current "$name" "$requirements"; then return; fi
    rm -rf "${folder:?}/$name"
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$requirements"
    installed "$name" "$requirements"
}

install_node() {
    local lock=("$here/package.json" "$here/package-lock.json")
    if current node_modules "${lock[@]}"; then return; fi
    cp "${lock[@]}" "$folder"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    installed node_modules "${lock[@]}"
}

install_python 1
install_python 2
install_node
# Programs find their packages beside themselves.
ln -sfn "$here"/*.mjs "$folder"
