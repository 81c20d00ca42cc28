# shellcheck shell=bash
# What the machine must have: Debian packages, cargo, and the folders of .dev. To be sourced by
# `dev`, which sets $state.

# install_missing [test]: what the stack needs; for tests what they need besides.
install_missing() {
    local missing
    mapfile -t missing < <(missing_packages; "missing_${1:-no}_packages")
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
    require_cargo
    make_state_folders
}

missing_packages() {
    command -v curl >/dev/null || echo curl
    command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
    [[ -e /etc/ssl/certs/ca-certificates.crt ]] || echo ca-certificates
    # The package of this name brings Debian's version: 15 in Debian 12.
    [[ -n ${DATABASE_URL:-} ]] || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || echo postgresql
    [[ -n ${AMQP_URL:-} || -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || echo rabbitmq-server
}

missing_no_packages() { :; }

# Tests read what was printed with programs that know nothing of ours.
missing_test_packages() {
    command -v pdfinfo >/dev/null || echo poppler-utils
    command -v zbarimg >/dev/null || echo zbar-tools
    # What stands beside the processes in drills.
    [[ -x /usr/sbin/haproxy ]] || echo haproxy
    [[ -x /usr/sbin/pgbouncer ]] || echo pgbouncer
    command -v ip >/dev/null || echo iproute2
    # Python and Node.js run the official MCP clients, the check of the manifests, Schemathesis, and generators of clients.
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    command -v npm >/dev/null || echo npm
    # A browser and what drives it, of one version.
    [[ -x /usr/bin/chromium ]] || echo chromium
    command -v chromedriver >/dev/null || echo chromium-driver
}

# Where packages cannot be had, the tests that need them fail and say so; the others run.
# shellcheck disable=SC2154 # state is set by dev.
install_mcp_clients() {
    step "install the official MCP clients"
    if tests/mcp/install.sh "$state/mcp" >&2; then
        export PILLARBOX_MCP_CLIENTS=$state/mcp
    else
        echo "the official MCP clients could not be installed: their tests will fail" >&2
    fi
}

# shellcheck disable=SC2154 # state is set by dev.
install_browser_tools() {
    step "install the accessibility checker"
    if tests/browser/install.sh "$state/browser" >&2; then
        export PILLARBOX_BROWSER_TOOLS=$state/browser
    else
        echo "the accessibility checker could not be installed: its tests will fail" >&2
    fi
}

install_manifest_checker() {
    step "install the schemas of Kubernetes"
    if tests/install_python.sh tests/manifests/requirements.txt "$state/manifests" >&2; then
        export PILLARBOX_MANIFEST_CHECKER=$state/manifests
    else
        echo "the schemas of Kubernetes could not be installed: the test of the manifests will fail" >&2
    fi
}

install_schemathesis() {
    step "install Schemathesis"
    if tests/install_python.sh tests/schemathesis/requirements.txt "$state/schemathesis" >&2; then
        export PILLARBOX_SCHEMATHESIS=$state/schemathesis
    else
        echo "Schemathesis could not be installed: its test will fail" >&2
    fi
}

install_generators() {
    step "install generators of clients"
    if tests/generators/install.sh "$state/generators" >&2; then
        export PILLARBOX_GENERATORS=$state/generators
    else
        echo "the generators of clients could not be installed: their tests will fail" >&2
    fi
}

# The checker of Prometheus's files, out of Debian's package, which itself would install and start a server. Where it cannot be
# had, the tests that need it fail and say so; the others run.
install_promtool() {
    local folder=$state/prometheus
    if ! command -v promtool >/dev/null; then
        export PILLARBOX_PROMTOOL=$folder/usr/bin/promtool
        [[ -x $PILLARBOX_PROMTOOL ]] || download_promtool "$folder" >&2 ||
            echo "promtool could not be had: its tests will fail" >&2
    fi
}

download_promtool() {
    step "get promtool"
    mkdir -p "$1"
    (cd "$1" && apt-get download -q prometheus && dpkg-deb --extract prometheus_*.deb . && rm prometheus_*.deb)
}

install_packages() {
    local as_root=()
    command -v apt-get >/dev/null ||
        fail "missing: $*, and no apt-get here: install them, or give DATABASE_URL and AMQP_URL, or use docker compose up"
    if [[ $EUID != 0 ]]; then
        command -v sudo >/dev/null || fail "missing: $*, and no sudo here: run as root: apt-get install $*"
        as_root=(sudo)
    fi
    step "install $*"
    "${as_root[@]}" deploy/local/install.sh "$@" >&2 || fail "could not install: run as root: apt-get install $*"
}

require_cargo() {
    local needed found
    # Where rustup puts it, for a shell that was opened before.
    PATH=$PATH:$HOME/.cargo/bin
    command -v cargo >/dev/null || fail "cargo is missing: install Rust from https://rustup.rs and run this again"
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(cargo --version | cut -d' ' -f2)
    [[ $(printf '%s\n' "$needed" "$found" | sort -V | head -n 1) == "$needed" ]] ||
        fail "cargo is $found and $needed or newer is needed: run rustup update"
}

# shellcheck disable=SC2154 # state is set by dev.
make_state_folders() {
    if ! mkdir -p "$state/logs" "$state/run" 2>/dev/null || [[ ! -w $state/run ]]; then
        fail "$state belongs to another user: work in a clone of your own, or remove it"
    fi
    # Settings in run/ can hold passwords of servers that were given.
    chmod 700 "$state/run"
    ln -sfn ../postgres/server.log "$state/logs/postgres.log"
    ln -sfn ../rabbitmq/server.log "$state/logs/rabbitmq.log"
}
