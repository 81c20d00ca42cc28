#!/usr/bin/env bash
# usage: server.sh ACTION postgres|rabbitmq FOLDER [NAME=VALUE...]
# A private server in a folder of its own (help.txt says what the actions do), with the ports it was given and the settings of
# its last start with any. Both kinds listen on 127.0.0.1 only. PostgreSQL has no passwords, and no Unix socket, whose path may
# not be longer than 107 characters; database `pillarbox` belongs to role `pillarbox`, the operator's, each process has a
# role of its own, and `postgres` is the superuser. RabbitMQ has its own port mapper (epmd) and reads nothing of the system's
# configuration; user and password are `pillarbox`.
set -euo pipefail

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/local/process.sh
source "$here/process.sh"

# How long a server may take before it answers, recovery after a kill included, and to stop.
START_SECONDS=60
STOP_SECONDS=30
RABBITMQ=/usr/lib/rabbitmq/bin

# port NAME: the one that was chosen.
port() {
    port_of "$folder/ports" "$1"
}

# PostgreSQL refuses to run as root: there it runs as the package's user, and its data lies where that user can reach it,
# with data a link to it if that is elsewhere. A cluster stays with the version that made it, a new one gets the newest.
postgres_prepare() {
    as_owner=()
    if [[ $EUID == 0 ]]; then as_owner=(setpriv --reuid=postgres --regid=postgres --init-groups --); fi
    programs=$(cat "$folder/data/cluster/PG_VERSION" 2>/dev/null || echo '*')
    programs=$(find /usr/lib/postgresql -path "*/$programs/bin/postgres" -printf '%h\n' | sort -V | tail -n 1)
    psql=(env PGOPTIONS=--client-min-messages=warning "$programs/psql" --no-psqlrc --quiet --tuples-only --no-align)
    superuser=postgres://postgres@127.0.0.1:$(port postgres)
    url=postgres://pillarbox@127.0.0.1:$(port postgres)/pillarbox
    stop_signal=INT # The "fast" shutdown: it ends sessions instead of waiting for them.
    names=(postgres)
    files=(data)
}

postgres_launch() {
    local data=$folder/data settings
    mkdir -p "$data"
    if [[ $EUID == 0 && ! -d $data/cluster ]]; then
        chown -h postgres: "$data"
        if ! "${as_owner[@]}" test -w "$data"; then
            local reachable
            reachable=/var/lib/pillarbox-local/$(hash_of "$folder")
            install -d -o postgres -g postgres -m 700 "$reachable"
            rm -rf "$data"
            ln -s "$reachable" "$data"
        fi
    fi
    data=$(realpath "$data")
    if [[ ! -d $data/cluster ]]; then
        # Renamed when complete, so that an interrupted start leaves no half of a cluster.
        "${as_owner[@]}" rm -rf "$data/cluster.new"
        "${as_owner[@]}" "$programs/initdb" --pgdata="$data/cluster.new" --username=postgres --auth=trust \
            --encoding=UTF8 --locale=C.UTF-8 --no-sync >>"$folder/server.log" 2>&1 ||
            fail "initdb failed; its output is in $folder/server.log"
        "${as_owner[@]}" mv "$data/cluster.new" "$data/cluster"
    fi
    # That of a killed server would hold until somebody collects the dead process.
    rm -f "$data/cluster/postmaster.pid"
    mapfile -t settings <"$folder/settings"
    process_start "$folder/server.pid" "$folder/server.log" "${as_owner[@]}" "$programs/postgres" -D "$data/cluster" \
        -p "$(port postgres)" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
        -c max_connections=200 -c shared_buffers=256MB -c wal_compression=lz4 -c timezone=UTC -c log_timezone=UTC \
        -c log_line_prefix='%m [%p] ' "${settings[@]/#/-c}"
}

postgres_answers() {
    "$programs/pg_isready" --quiet --dbname="$superuser/postgres"
}

postgres_finish() {
    psql+=(--set=ON_ERROR_STOP=1 "$superuser/postgres")
    "${psql[@]}" --file="$here/../postgres/users.sql"
    if [[ -n $("${psql[@]}" --command="select 1 from pg_database where datname = 'pillarbox'") ]]; then return; fi
    "${psql[@]}" --command="drop role if exists pillarbox" --command="create role pillarbox login createdb" \
        --command="create database pillarbox owner pillarbox"
}

# As the superuser, for what a drill does to a server.
postgres_control() {
    "${psql[@]}" "$superuser/pillarbox" "$@"
}

rabbitmq_prepare() {
    url=amqp://pillarbox:pillarbox@127.0.0.1:$(port amqp)/%2f
    stop_signal=TERM
    names=(amqp distribution)
    if process_gone "$folder/epmd.pid"; then names+=(epmd); fi
    files=(data rabbitmq.conf rabbitmq-env.conf enabled_plugins .erlang.cookie epmd.log erl_crash.dump)
}

rabbitmq_launch() {
    mkdir -p "$folder/data"
    echo '[].' >"$folder/enabled_plugins"
    : >"$folder/rabbitmq-env.conf" # Present but empty: otherwise the system's file would be read.
    # The two limits stop every publisher when they are met; on a small machine that
    # is builds and browsers at work, not a broker in trouble.
    cat - "$folder/settings" >"$folder/rabbitmq.conf" <<END
listeners.tcp.local = 127.0.0.1:$(port amqp)
default_user = pillarbox
default_pass = pillarbox
vm_memory_high_watermark.relative = 0.8
disk_free_limit.absolute = 10MB
log.console = true
log.console.level = info
END
    if process_gone "$folder/epmd.pid"; then
        process_start "$folder/epmd.pid" "$folder/epmd.log" epmd -port "$(port epmd)" -address 127.0.0.1
        wait_until 5 port_open "$(port epmd)" || fail "epmd did not start; see $folder/epmd.log"
    fi
    # The package's `rabbitmq-server` on the path insists on the user rabbitmq; this one does not.
    (rabbitmq_environment && process_start "$folder/server.pid" "$folder/server.log" "$RABBITMQ/rabbitmq-server")
}

# Leaves nothing but the node's own environment. Nodes on `localhost` do not depend on the machine's name.
rabbitmq_environment() {
    local name
    for name in $(compgen -e); do unset "$name"; done
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=$folder
    export ERL_CRASH_DUMP=$folder/erl_crash.dump ERL_EPMD_ADDRESS=127.0.0.1
    ERL_EPMD_PORT=$(port epmd) RABBITMQ_DIST_PORT=$(port distribution)
    RABBITMQ_NODENAME=pillarbox_$(hash_of "$folder")@localhost
    export ERL_EPMD_PORT RABBITMQ_DIST_PORT RABBITMQ_NODENAME
    export RABBITMQ_CONFIG_FILE=$folder/rabbitmq.conf RABBITMQ_ADVANCED_CONFIG_FILE=$folder/advanced.config
    export RABBITMQ_CONF_ENV_FILE=$folder/rabbitmq-env.conf RABBITMQ_ENABLED_PLUGINS_FILE=$folder/enabled_plugins
    export RABBITMQ_MNESIA_BASE=$folder/data RABBITMQ_LOG_BASE=$folder/data RABBITMQ_LOGS=-
    export RABBITMQ_GENERATED_CONFIG_DIR=$folder/data/config RABBITMQ_SCHEMA_DIR=$folder/data/schema
    # Schedulers that spin while they wait would take the second of two cores.
    export RABBITMQ_SCHEDULER_BUSY_WAIT_THRESHOLD=none
    export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
    # The script then becomes the node instead of watching over it: our pid is the node's.
    export RUNNING_UNDER_SYSTEMD=true
}

rabbitmq_answers() {
    port_open "$(port amqp)"
}

rabbitmq_finish() { :; }

rabbitmq_control() {
    rabbitmq_environment
    "$RABBITMQ/rabbitmqctl" --quiet "$@"
}

start() {
    if [[ $# -gt 0 ]]; then printf '%s\n' "$@" >"$folder/settings"; fi
    touch "$folder/settings"
    if ! running; then
        process_kill "$folder/server.pid"
        for name in "${names[@]}"; do port_of "$folder/ports" "$name" "$(port_base "$folder")" >/dev/null; done
        "${kind}_prepare"
        "${kind}_launch"
    fi
    wait_until "$START_SECONDS" settled || true
    if ! running; then
        tail -n 15 "$folder/server.log" >&2 || true
        fail "$kind did not start; its log is $folder/server.log"
    fi
    "${kind}_finish"
    echo "$url"
}

running() {
    ! process_gone "$folder/server.pid" && "${kind}_answers"
}

# It answers, or never will.
settled() {
    process_gone "$folder/server.pid" || "${kind}_answers"
}

# The port mapper ends with its server's orderly stop: it is not what crashes, and the next start needs it.
stop() {
    process_stop "$folder/server.pid" "$stop_signal" "$STOP_SECONDS"
    process_stop "$folder/epmd.pid" TERM 5
}

wipe() {
    process_kill "$folder/server.pid"
    process_kill "$folder/epmd.pid"
    if [[ -L $folder/data ]]; then rm -rf "$(realpath "$folder/data")"; fi
    rm -rf "$folder/data"
}

action=${1:-} kind=${2:-}
if [[ ! $action =~ ^(start|stop|kill|restart|wipe|remove|control|status|url)$ || ! $kind =~ ^(postgres|rabbitmq)$ || -z ${3:-} ]]; then
    cat "$here/help.txt" >&2
    exit 2
fi
folder=$(realpath -m -- "$3")
shift 3
case $action in
    start | restart) mkdir -p "$folder" ;;
    status) [[ -d $folder ]] || { echo stopped && exit 1; } ;;
    url | control) [[ -d $folder ]] || fail "there is no server in $folder" ;;
    *) [[ -d $folder ]] || exit 0 ;;
esac
[[ -w $folder ]] || fail "$folder belongs to another user: use a folder of your own, or remove it"
# One action at a time; released when this script ends.
exec 9>"$folder/lock"
flock -w 120 9 || fail "another command is at work on $folder"
cd /
"${kind}_prepare"
case $action in
    start) start "$@" ;;
    stop) stop ;;
    kill) process_kill "$folder/server.pid" ;;
    restart) stop && start "$@" ;;
    wipe) wipe ;;
    remove)
        wipe
        # Only what we made is deleted, and the folder only when nothing else is in it.
        (cd "$folder" && rm -rf ports settings server.log server.log.old lock "${files[@]}")
        rmdir --ignore-fail-on-non-empty "$folder"
        ;;
    control) "${kind}_control" "$@" ;;
    status)
        running || { echo stopped && exit 1; }
        echo "running $url"
        ;;
    url) echo "$url" ;;
esac
