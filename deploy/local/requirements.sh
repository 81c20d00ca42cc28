# shellcheck shell=bash
# What the machine must have: Debian packages, cargo, the folders of .dev, and the tools of tests. To be sourced by `dev`.

# install_missing [test]: what the stack needs; for tests what they need besides.
install_missing() {
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$@")
    if [[ ${#missing[@]} -gt 0 ]]; then
        command -v apt-get >/dev/null ||
            fail "missing: ${missing[*]}, and no apt-get here: install them, or give DATABASE_URL and AMQP_URL, or use docker compose up"
        if [[ $EUID != 0 ]]; then
            command -v sudo >/dev/null || fail "missing: ${missing[*]}, and no sudo here: run as root: apt-get install ${missing[*]}"
            as_root=(sudo)
        fi
        step "install ${missing[*]}"
        "${as_root[@]}" deploy/local/install.sh "${missing[@]}" >&2 ||
            fail "could not install: run as root: apt-get install ${missing[*]}"
    fi
    require_cargo
    if ! mkdir -p "$state/logs" "$state/run" 2>/dev/null || [[ ! -w $state/run ]]; then
        fail "$state belongs to another user: work in a clone of your own, or remove it"
    fi
    # Settings in run/ can hold passwords of servers that were given.
    chmod 700 "$state/run"
    ln -sfn ../postgres/server.log "$state/logs/postgres.log"
    ln -sfn ../rabbitmq/server.log "$state/logs/rabbitmq.log"
}

# Packages of which neither the command nor the file beside them is there. Tests read what was printed with programs that know
# nothing of ours, put proxies beside the processes, and run a browser, and clients and generators in Python and Node.js.
missing_packages() {
    local package brings
    while read -r package brings; do
        command -v "$brings" >/dev/null || compgen -G "$brings" >/dev/null || echo "$package"
    done < <(
        printf '%s\n' 'curl curl' 'gcc cc' 'libc6-dev /usr/include/stdlib.h' 'ca-certificates /etc/ssl/certs/ca-certificates.crt'
        # The package of this name brings Debian's version: 15 in Debian 12.
        [[ -n ${DATABASE_URL:-} ]] || echo 'postgresql /usr/lib/postgresql/*/bin/postgres'
        [[ -n ${AMQP_URL:-} ]] || echo 'rabbitmq-server /usr/lib/rabbitmq/bin/rabbitmq-server'
        [[ $# == 0 ]] || printf '%s\n' 'poppler-utils pdfinfo' 'zbar-tools zbarimg' 'haproxy /usr/sbin/haproxy' \
            'pgbouncer /usr/sbin/pgbouncer' 'iproute2 ip' 'python3-venv /usr/lib/python3*/ensurepip' 'npm npm' \
            'chromium chromium' 'chromium-driver chromedriver'
    )
}

require_cargo() {
    local needed found
    # Where rustup puts it, for a shell that was opened before.
    PATH=$PATH:$HOME/.cargo/bin
    command -v cargo >/dev/null || fail "cargo is missing: install Rust from https://rustup.rs and run this again"
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(cargo --version | cut -d' ' -f2)
    printf '%s\n' "$needed" "$found" | sort --check=quiet -V || fail "cargo is $found and $needed or newer is needed: run rustup update"
}

# Where a tool cannot be had, the tests that need it fail and say so; the others run.
install_tools() {
    local tool
    export PILLARBOX_TOOLS=$state/tools
    step "install the tools of tests that are missing"
    for tool in mcp/package-lock.json mcp/python_{1,2}.txt browser/package-lock.json manifests/requirements.txt \
        schemathesis/requirements.txt generators/package-lock.json generators/requirements.txt \
        clients/package-lock.json clients/requirements.txt promtool; do
        (install_tool "$tool") >&2 || echo "$tool could not be installed: its tests will fail" >&2
    done
}

# install_tool TOOL/LOCKFILE: Python's packages into a virtual environment called as the file, Node.js's beside it, and
# the checker of Prometheus's files out of Debian's package, which itself would start a server. Pip and npm take packages from
# wherever they are configured to. What is installed already is left alone; an interrupted installation starts over.
install_tool() {
    local source=tests/$1 target=$PILLARBOX_TOOLS/${1%.txt} marker
    if [[ $1 == *.json ]]; then target=$PILLARBOX_TOOLS/${1%/*}; fi
    marker=$target/installed
    if [[ $1 == promtool ]]; then
        command -v promtool >/dev/null && return
        marker=$target/usr/bin/promtool source=$marker
    fi
    cmp --quiet "$source" "$marker" && return
    rm -rf "$target" && mkdir -p "$target" || return
    case $1 in
        *.txt)
            python3 -m venv "$target" &&
                "$target/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$source" || return
            ;;
        *.json)
            cp "$source" "tests/${1%/*}/package.json" "$target"
            # Programs find their packages beside themselves.
            find "$root/tests/${1%/*}" -maxdepth 1 -name '*.mjs' -exec ln -s -t "$target" {} +
            (cd "$target" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || return
            ;;
        promtool) cd "$target" && apt-get download -q prometheus && dpkg-deb --extract prometheus_*.deb . && return ;;
    esac
    cp "$source" "$marker"
}
