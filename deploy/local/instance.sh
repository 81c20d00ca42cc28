# shellcheck shell=bash
# A private server in a folder of its own, in terms of what its kind (postgres.sh, rabbitmq.sh)
# defines. To be sourced by these. An instance folder holds:
#
#   ports        the ports it was given, kept over restarts, so that its URL stays
#   settings     settings beyond our own, one NAME=VALUE a line, from its last start with any
#   server.pid   server.log   data/   and what else the kind lists in kind_files
#
# A kind defines: kind_create, kind_launch, kind_answers, kind_stop, kind_kill, kind_forget,
# kind_ready, kind_url, kind_control and the array kind_files. These see the folder as $instance.

# How long a server may take before it answers. Recovery after a kill is part of it.
START_SECONDS=60

instance_usage() {
    cat >&2 <<END
usage: $(basename "$0") ACTION FOLDER [NAME=VALUE...]

  start     create what is missing, start, wait until it answers, print its URL;
            NAME=VALUE are server settings, remembered for later starts;
            on a server that runs, only restart applies them
  stop      orderly stop
  kill      SIGKILL, as in a crash; data stays
  restart   stop and start; prints the URL
  wipe      kill and forget all data; the next start begins empty at the same URL
  remove    kill and delete the instance
  control   run the server's own client with the words that follow instead of settings
  status    "running URL" (exit 0) or "stopped" (exit 1)
  url       print the URL without a look at the server
END
    exit 2
}

instance_main() {
    [[ $# -ge 2 && $2 != "" ]] || instance_usage
    local action=$1
    instance=$(realpath -m -- "$2")
    shift 2
    case $action in
        start | restart) mkdir -p "$instance" ;;
        stop | kill | wipe | remove | status | url | control)
            if [[ ! -d $instance ]]; then instance_absent "$action"; fi ;;
        *) instance_usage ;;
    esac
    [[ -w $instance ]] || fail "$instance belongs to another user: use a folder of your own, or remove it"
    # One action at a time; released when this script ends.
    exec 9>"$instance/lock"
    flock -w 120 9 || fail "another command is at work on $instance"
    case $action in
        stop | kill | url) "kind_$action" ;;
        control) kind_control "$@" ;;
        *) "instance_$action" "$@" ;;
    esac
}

instance_absent() {
    case $1 in
        status) echo stopped; exit 1 ;;
        url | control) fail "there is no server in $instance" ;;
        *) exit 0 ;;
    esac
}

instance_start() {
    if [[ $# -gt 0 ]]; then printf '%s\n' "$@" >"$instance/settings"; fi
    touch "$instance/settings"
    if ! process_pid "$instance/server.pid" >/dev/null; then
        kind_create
        kind_launch
    fi
    wait_until "$START_SECONDS" instance_settled || true
    if ! kind_answers; then
        tail -n 15 "$instance/server.log" >&2 || true
        fail "$(basename "$0" .sh) did not start; its log is $instance/server.log"
    fi
    kind_ready
    kind_url
}

# It answers, or never will.
instance_settled() {
    process_gone "$instance/server.pid" || kind_answers
}

instance_restart() {
    kind_stop
    instance_start "$@"
}

instance_wipe() {
    kind_kill
    kind_forget
}

# Only what we made is deleted, and the folder only when nothing else is in it.
instance_remove() {
    instance_wipe
    # shellcheck disable=SC2154 # Set by the kind.
    (cd "$instance" && rm -rf ports settings server.log server.log.old lock "${kind_files[@]}")
    rmdir --ignore-fail-on-non-empty "$instance"
}

instance_status() {
    if process_pid "$instance/server.pid" >/dev/null && kind_answers; then
        echo "running $(kind_url)"
    else
        echo stopped
        return 1
    fi
}

# instance_port NAME: the port that was chosen.
instance_port() {
    port_remembered "$instance/ports" "$1"
}

# instance_choose_ports NAME...: gives each a free port, if it has none.
instance_choose_ports() {
    local name
    for name in "$@"; do
        port_of "$instance/ports" "$name" "$(port_base "$instance")" >/dev/null
    done
}
