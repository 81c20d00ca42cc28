#!/usr/bin/env bash
# A private PostgreSQL in a folder of its own; see instance.sh for the actions.
# It listens on 127.0.0.1 only, without passwords, and without a Unix socket, whose path
# may not be longer than 107 characters. Database `pillarbox` belongs to role `pillarbox`, the
# operator's; each process has a role of its own; role `postgres` is the superuser.
set -euo pipefail

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/local/process.sh
source "$here/process.sh"
# shellcheck source=deploy/local/instance.sh
source "$here/instance.sh"

# shellcheck disable=SC2034 # Read by instance.sh.
kind_files=(data)

# PostgreSQL refuses to run as root: there it runs as the package's user, and its data lies
# where that user can reach it, with $instance/data a link to it if that is elsewhere.
as_owner() {
    if [[ $EUID == 0 ]]; then
        (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$@")
    else
        "$@"
    fi
}

# The newest installed version, but a cluster stays with the version that made it.
programs() {
    local version=
    if [[ -f $instance/data/cluster/PG_VERSION ]]; then version=$(<"$instance/data/cluster/PG_VERSION"); fi
    find /usr/lib/postgresql -path "*/${version:-*}/bin/postgres" -printf '%h\n' | sort -V | tail -n 1
}

kind_create() {
    instance_choose_ports postgres
    if [[ -d $instance/data/cluster ]]; then
        end_cluster
        return
    fi
    create_data_folder
    # Renamed when complete, so that an interrupted start leaves no half of a cluster.
    local data
    data=$(realpath "$instance/data")
    as_owner rm -rf "$data/cluster.new"
    as_owner "$(programs)/initdb" --pgdata="$data/cluster.new" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >>"$instance/server.log" 2>&1 ||
        fail "initdb failed; its output is in $instance/server.log"
    as_owner mv "$data/cluster.new" "$data/cluster"
}

create_data_folder() {
    mkdir -p "$instance/data"
    if [[ $EUID != 0 ]]; then return; fi
    chown -h postgres: "$instance/data"
    if ! as_owner test -w "$instance/data"; then
        local reachable
        reachable=/var/lib/pillarbox-local/$(hash_of "$instance")
        install -d -o postgres -g postgres -m 700 "$reachable"
        rm -rf "$instance/data"
        ln -s "$reachable" "$instance/data"
        chown postgres: "$reachable"
    fi
}

kind_launch() {
    local setting settings=()
    while read -r setting; do settings+=(-c "$setting"); done <"$instance/settings"
    local command=("$(programs)/postgres" -D "$(realpath "$instance/data/cluster")"
        -p "$(instance_port postgres)" -c listen_addresses=127.0.0.1 -c unix_socket_directories=
        -c max_connections=200 -c shared_buffers=256MB -c wal_compression=lz4 -c timezone=UTC -c log_timezone=UTC
        -c log_line_prefix='%m [%p] ' "${settings[@]}")
    if [[ $EUID == 0 ]]; then
        command=(setpriv --reuid=postgres --regid=postgres --init-groups -- "${command[@]}")
    fi
    (cd / && process_start "$instance/server.pid" "$instance/server.log" "${command[@]}")
}

kind_answers() {
    "$(programs)/pg_isready" --quiet --dbname="postgres://postgres@127.0.0.1:$(instance_port postgres)/postgres"
}

kind_ready() {
    local psql=(env PGOPTIONS=--client-min-messages=warning "$(programs)/psql" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1
        "postgres://postgres@127.0.0.1:$(instance_port postgres)/postgres")
    "${psql[@]}" --file="$here/../postgres/users.sql"
    if [[ -n $("${psql[@]}" --command="select 1 from pg_database where datname = 'pillarbox'") ]]; then return; fi
    "${psql[@]}" --command="drop role if exists pillarbox" --command="create role pillarbox login createdb" \
        --command="create database pillarbox owner pillarbox"
}

# SIGINT is the "fast" shutdown: it ends sessions instead of waiting for them.
kind_stop() {
    process_stop "$instance/server.pid" INT 30
}

kind_kill() {
    process_kill "$instance/server.pid"
    end_cluster
}

# After the postmaster's death: ends its sessions, which may work on for a while, and then removes
# the lock file, which would otherwise hold until somebody collects the dead postmaster.
end_cluster() {
    local processes
    mapfile -t processes < <(cluster_processes)
    if [[ ${#processes[@]} -gt 0 ]]; then kill -KILL "${processes[@]}" 2>/dev/null || true; fi
    wait_until 10 cluster_ended || fail "processes survive SIGKILL: $(cluster_processes | paste -sd ' ')"
    rm -f "$instance/data/cluster/postmaster.pid"
}

# Its processes are those of the program that work in its folder.
cluster_processes() {
    local process
    for process in /proc/[0-9]*; do
        if [[ $process/cwd -ef $instance/data/cluster && $(readlink "$process/exe") == */postgres ]]; then
            echo "${process#/proc/}"
        fi
    done
}

cluster_ended() {
    [[ -z $(cluster_processes) ]]
}

kind_forget() {
    if [[ -L $instance/data ]]; then rm -rf "$(realpath "$instance/data")"; fi
    rm -rf "$instance/data"
}

# As the superuser, for what a drill does to a server.
kind_control() {
    "$(programs)/psql" --no-psqlrc --quiet --tuples-only --no-align \
        "postgres://postgres@127.0.0.1:$(instance_port postgres)/pillarbox" "$@"
}

kind_url() {
    echo "postgres://pillarbox@127.0.0.1:$(instance_port postgres)/pillarbox"
}

instance_main "$@"
