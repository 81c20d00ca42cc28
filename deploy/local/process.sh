# shellcheck shell=bash
# Background processes and their ports. To be sourced.
#
# A process and its children hold the lock of its pid file open as long as they live: so none is overlooked, and a number
# that the system has given to another process since then is never signalled.

fail() {
    echo "error: $*" >&2
    exit 1
}

# wait_until SECONDS COMMAND...: polls until it succeeds; fails after SECONDS.
wait_until() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# process_start PIDFILE LOGFILE COMMAND...: runs it in a session of its own; only when none of PIDFILE lives.
process_start() {
    local lock
    # One older log is kept, so that logs stay bounded over many starts.
    if [[ -n $(find "$2" -size +10M 2>/dev/null) ]]; then mv "$2" "$2.old"; fi
    exec {lock}>"$1"
    flock --nonblock "$lock"
    (
        # Of the caller's files it gets no other: a lock among them would be held for its life.
        for file in "/proc/$BASHPID/fd/"*; do
            file=${file##*/}
            if ((file > 2 && file != lock)); then exec {file}>&-; fi
        done
        exec setsid "${@:3}" >>"$2" 2>&1 </dev/null
    ) &
    echo $! >&"$lock"
    exec {lock}>&-
}

process_gone() {
    [[ ! -e $1 ]] || flock --nonblock "$1" true
}

# process_stop PIDFILE SIGNAL SECONDS: asks with SIGNAL, and after SECONDS kills.
process_stop() {
    if ! process_gone "$1"; then
        kill -s "$2" "$(<"$1")" 2>/dev/null || true
        wait_until "$3" process_gone "$1" || echo "$(basename "$1" .pid) did not stop within $3 s: killed" >&2
    fi
    process_kill "$1"
}

# process_kill PIDFILE: SIGKILL to it and its children, as in a crash; waits for their end.
process_kill() {
    wait_until 10 process_killed "$1" || fail "process $(<"$1") survives SIGKILL"
    rm -f "$1"
}

process_killed() {
    local holders
    process_gone "$1" && return
    mapfile -t holders < <(find /proc/[0-9]*/fd -lname "$(realpath "$1")" 2>/dev/null | cut -d/ -f3 | sort -u)
    kill -KILL "${holders[@]}" 2>/dev/null
    process_gone "$1"
}

port_open() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port_of FILE NAME [FIRST]: the port that FILE remembers for NAME, or nothing. With FIRST, for a NAME that is not running:
# where there is none, or another program has taken it, the first from there on that is free and no other's in FILE.
port_of() {
    local port
    port=$(sed -n "s/^$2=//p" "$1" 2>/dev/null) || true
    if [[ $# == 3 ]] && { [[ -z $port ]] || port_open "$port"; }; then
        [[ -z $port ]] || echo "port $port of $2 is taken: choosing another" >&2
        for ((port = $3; port < $3 + 500; port++)); do
            grep -qs "=$port\$" "$1" || port_open "$port" || break
        done
        ((port < $3 + 500)) || fail "no free port between $3 and $port"
        { grep -sv "^$2=" "$1"; echo "$2=$port"; } >"$1.new" || true
        mv "$1.new" "$1"
    fi
    echo "$port"
}

# port_base TEXT: where to look first for ports of TEXT. It differs from text to text, so that
# two clones that start at once do not meet, and lies below the ports of outgoing connections.
port_base() {
    echo $((20000 + $(hash_of "$1") % 1200 * 10))
}

# hash_of TEXT: a short number for names of folders and nodes.
hash_of() {
    cksum <<<"$1" | cut -d' ' -f1
}
