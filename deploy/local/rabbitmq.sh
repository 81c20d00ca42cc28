#!/usr/bin/env bash
# A private RabbitMQ node in a folder of its own; see instance.sh for the actions.
# It listens on 127.0.0.1 only, has its own port mapper (epmd) and reads nothing of the
# system's RabbitMQ configuration. User and password are `pillarbox`.
set -euo pipefail

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/local/process.sh
source "$here/process.sh"
# shellcheck source=deploy/local/instance.sh
source "$here/instance.sh"

# The package's `rabbitmq-server` on the path insists on the user rabbitmq; this one does not.
SERVER=/usr/lib/rabbitmq/bin/rabbitmq-server

# shellcheck disable=SC2034 # Read by instance.sh.
kind_files=(data rabbitmq.conf rabbitmq-env.conf enabled_plugins .erlang.cookie epmd.log erl_crash.dump)

kind_create() {
    instance_choose_ports amqp distribution
    if process_gone "$instance/epmd.pid"; then instance_choose_ports epmd; fi
    mkdir -p "$instance/data"
    echo '[].' >"$instance/enabled_plugins"
    # Present but empty: otherwise the system's file would be read.
    : >"$instance/rabbitmq-env.conf"
    # The two limits stop every publisher when they are met; on a small machine that
    # is builds and browsers at work, not a broker in trouble.
    cat - "$instance/settings" >"$instance/rabbitmq.conf" <<END
listeners.tcp.local = 127.0.0.1:$(instance_port amqp)
default_user = pillarbox
default_pass = pillarbox
vm_memory_high_watermark.relative = 0.8
disk_free_limit.absolute = 10MB
log.console = true
log.console.level = info
END
}

kind_launch() {
    if process_gone "$instance/epmd.pid"; then
        process_start "$instance/epmd.pid" "$instance/epmd.log" \
            epmd -port "$(instance_port epmd)" -address 127.0.0.1
        wait_until 5 port_open "$(instance_port epmd)" || fail "epmd did not start; see $instance/epmd.log"
    fi
    local environment
    set_environment
    process_start "$instance/server.pid" "$instance/server.log" env -i "${environment[@]}" "$SERVER"
}

# The whole environment of the node. Nodes on `localhost` do not depend on the machine's name.
set_environment() {
    environment=(
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        LANG=C.UTF-8
        HOME="$instance"
        ERL_CRASH_DUMP="$instance/erl_crash.dump"
        ERL_EPMD_PORT="$(instance_port epmd)"
        ERL_EPMD_ADDRESS=127.0.0.1
        RABBITMQ_NODENAME="pillarbox_$(hash_of "$instance")@localhost"
        RABBITMQ_DIST_PORT="$(instance_port distribution)"
        RABBITMQ_CONFIG_FILE="$instance/rabbitmq.conf"
        RABBITMQ_CONF_ENV_FILE="$instance/rabbitmq-env.conf"
        RABBITMQ_ADVANCED_CONFIG_FILE="$instance/advanced.config"
        RABBITMQ_ENABLED_PLUGINS_FILE="$instance/enabled_plugins"
        RABBITMQ_MNESIA_BASE="$instance/data"
        RABBITMQ_GENERATED_CONFIG_DIR="$instance/data/config"
        RABBITMQ_SCHEMA_DIR="$instance/data/schema"
        RABBITMQ_LOG_BASE="$instance/data"
        RABBITMQ_LOGS=-
        # Schedulers that spin while they wait would take the second of two cores.
        RABBITMQ_SCHEDULER_BUSY_WAIT_THRESHOLD=none
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
        # The script then becomes the node instead of watching over it: our pid is the node's.
        RUNNING_UNDER_SYSTEMD=true
    )
}

kind_answers() {
    port_open "$(instance_port amqp)"
}

kind_ready() {
    :
}

kind_stop() {
    process_stop "$instance/server.pid" TERM 30
    process_stop "$instance/epmd.pid" TERM 5
}

# The port mapper stays: it is not what crashes, and the next start needs it.
kind_kill() {
    process_kill "$instance/server.pid"
}

kind_forget() {
    process_kill "$instance/epmd.pid"
    rm -rf "$instance/data"
}

kind_control() {
    local environment
    set_environment
    env -i "${environment[@]}" /usr/lib/rabbitmq/bin/rabbitmqctl --quiet "$@"
}

kind_url() {
    echo "amqp://pillarbox:pillarbox@127.0.0.1:$(instance_port amqp)/%2f"
}

instance_main "$@"
