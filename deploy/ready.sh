#!/usr/bin/env bash
# Health check inside the image, which has no curl: succeeds when the process whose
# PILLARBOX__ADMIN__LISTEN we share says that it is ready.
set -euo pipefail

port=${PILLARBOX__ADMIN__LISTEN##*:}
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 3 _ status _ <&3
[[ $status == 200 ]]
