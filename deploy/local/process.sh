# shellcheck shell=bash
# Starting, recognising and ending background processes, and choosing ports. To be sourced.
#
# A pid file holds a process number and that process's identity, so that a number
# that the system has given to another process since then is never signalled.

fail() {
    echo "error: $*" >&2
    exit 1
}

# process_identity PID: when it started, in which boot; fails when it is gone or a zombie.
process_identity() {
    local stat fields
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    # The second field, the program's name, may hold spaces and brackets: cut after it.
    read -ra fields <<<"${stat##*) }"
    [[ ${fields[0]} != Z ]] || return 1
    echo "${fields[19]}-$(</proc/sys/kernel/random/boot_id)"
}

# process_pid PIDFILE: the number of the live process that the file names; fails when there is none.
process_pid() {
    local pid identity now
    [[ -s $1 ]] || return 1
    read -r pid identity <"$1"
    now=$(process_identity "$pid") && [[ $now == "$identity" ]] && echo "$pid"
}

# process_start PIDFILE LOGFILE COMMAND...: runs it in a session of its own.
process_start() {
    local pidfile=$1 logfile=$2
    shift 2
    # One older log is kept, so that logs stay bounded over many starts.
    if [[ -n $(find "$logfile" -size +10M 2>/dev/null) ]]; then mv "$logfile" "$logfile.old"; fi
    (
        # Of the caller's files it gets none: a lock among them would be held for its life.
        for descriptor in "/proc/$BASHPID/fd/"*; do
            descriptor=${descriptor##*/}
            if ((descriptor > 2)); then exec {descriptor}>&-; fi
        done
        exec setsid "$@" >>"$logfile" 2>&1 </dev/null
    ) &
    echo "$! $(process_identity $!)" >"$pidfile"
}

# process_stop PIDFILE SIGNAL SECONDS: asks with SIGNAL, and after SECONDS kills.
process_stop() {
    local pidfile=$1 signal=$2 seconds=$3 pid
    if pid=$(process_pid "$pidfile"); then
        kill -s "$signal" "$pid" 2>/dev/null || true
        if ! wait_until "$seconds" process_gone "$pidfile"; then
            echo "$(basename "$pidfile" .pid) did not stop within $seconds s: killed" >&2
            process_kill "$pidfile"
        fi
    fi
    rm -f "$pidfile"
}

# process_kill PIDFILE: SIGKILL, as in a crash; waits for its end.
process_kill() {
    local pid
    if pid=$(process_pid "$1"); then
        kill -KILL "$pid" 2>/dev/null || true
        wait_until 10 process_gone "$1" || fail "process $pid survives SIGKILL"
    fi
    rm -f "$1"
}

process_gone() {
    ! process_pid "$1" >/dev/null
}

# wait_until SECONDS COMMAND...: polls until it succeeds; fails after SECONDS.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

port_open() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port_of FILE NAME FIRST: the port that FILE remembers for NAME. Chooses one, from FIRST on,
# where there is none yet or another program has taken it; only for a NAME that is not running.
port_of() {
    local file=$1 name=$2 port
    port=$(port_remembered "$file" "$name")
    if [[ -z $port ]] || port_open "$port"; then
        [[ -z $port ]] || echo "port $port of $name is taken: choosing another" >&2
        port=$(port_free "$file" "$3")
        sed -i "/^$name=/d" "$file"
        echo "$name=$port" >>"$file"
    fi
    echo "$port"
}

# port_free FILE FIRST: the first port from FIRST on at which nothing listens and that FILE
# does not name, since its owner may be about to start.
port_free() {
    local port
    touch "$1"
    for ((port = $2; port < $2 + 500; port++)); do
        if ! grep -q "=$port\$" "$1" && ! port_open "$port"; then
            echo "$port"
            return
        fi
    done
    fail "no free port between $2 and $((port - 1))"
}

# port_remembered FILE NAME: the port without a look at who uses it; empty when there is none.
port_remembered() {
    [[ ! -f $1 ]] || sed -n "s/^$2=//p" "$1"
}

# port_base TEXT: where to look first for ports of TEXT. It differs from text to text, so that
# two clones that start at once do not meet, and lies below the ports of outgoing connections.
port_base() {
    local sum
    sum=$(hash_of "$1")
    echo $((20000 + sum % 1200 * 10))
}

# hash_of TEXT: a short number for names of folders and nodes.
hash_of() {
    cksum <<<"$1" | cut -d' ' -f1
}
