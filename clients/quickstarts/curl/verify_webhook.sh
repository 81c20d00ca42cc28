#!/bin/sh
# Checks a delivery's signature: verify_webhook.sh ID TIMESTAMP SIGNATURE <BODY, with PILLARBOX_WEBHOOK_SECRET (whsec_…). The three are the
# values of webhook-id, webhook-timestamp and webhook-signature. Check the time as well: one of over five minutes ago may be a replay.
set -eu

key=$(printf %s "${PILLARBOX_WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
expected=v1,$({ printf '%s.%s.' "$1" "$2" && cat; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
# After a rotation there are two signatures.
for signature in $3; do
    if [ "$signature" = "$expected" ]; then echo "signed"; exit; fi
done
echo "not signed with this secret"
exit 1
