#!/usr/bin/env bash
# Installs Debian packages, as root, without starting or enabling the servers in them:
# the local stack runs private ones, and the standard ports are the machine's own affair.
#
# usage: install.sh PACKAGE...
set -euo pipefail

POLICY=/usr/sbin/policy-rc.d

# While this file answers 101, package scripts start no service (and restart none).
forbid_starts() {
    if [[ -e $POLICY ]]; then mv "$POLICY" "$POLICY.pillarbox"; fi
    trap restore_policy EXIT
    printf '#!/bin/sh\nexit 101\n' >"$POLICY"
    chmod 755 "$POLICY"
}

restore_policy() {
    rm -f "$POLICY"
    if [[ -e $POLICY.pillarbox ]]; then mv "$POLICY.pillarbox" "$POLICY"; fi
}

# Services that a package brings would start with the next boot.
disable_services() {
    local package
    command -v systemctl >/dev/null || return 0
    for package in "$@"; do
        case $package in
            postgresql*) systemctl disable --quiet postgresql ;;
            haproxy | pgbouncer) systemctl disable --quiet "$package" ;;
            rabbitmq-server) systemctl disable --quiet rabbitmq-server epmd.socket epmd.service ;;
        esac || true
    done 2>/dev/null
}

export DEBIAN_FRONTEND=noninteractive
forbid_starts
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"
disable_services "$@"
