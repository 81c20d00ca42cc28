#!/usr/bin/env bash
# Installs Debian packages, as root, without starting or enabling the servers in them: the local stack runs private ones, and
# the standard ports are the machine's own affair. usage: install.sh PACKAGE...
set -euo pipefail

# While this file answers 101, package scripts start no service (and restart none).
POLICY=/usr/sbin/policy-rc.d
if [[ -e $POLICY ]]; then mv "$POLICY" "$POLICY.pillarbox"; fi
trap 'rm -f "$POLICY"; if [[ -e $POLICY.pillarbox ]]; then mv "$POLICY.pillarbox" "$POLICY"; fi' EXIT
printf '#!/bin/sh\nexit 101\n' >"$POLICY"
chmod 755 "$POLICY"

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"

# Services that a package brings, under its name, would start with the next boot.
if [[ " $* " == *' rabbitmq-server '* ]]; then set -- "$@" epmd.socket epmd.service; fi
for service in "$@"; do systemctl disable --quiet "$service" 2>/dev/null || true; done
