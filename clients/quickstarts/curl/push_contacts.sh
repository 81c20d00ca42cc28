#!/bin/sh
# Pushes prepared batches of at most 1000 records as a delta sync: push_contacts.sh NAME BATCH.json…, with PILLARBOX_KEY (a key of the
# integration). NAME tells this sync from others: the same command with the same name does nothing twice.
set -eu

push=$PILLARBOX_URL/api/integrations/push/v1
name=$1
shift

call() {
    curl --silent --show-error --fail-with-body --request "$1" "$push/$2" --header "Authorization: Bearer $PILLARBOX_KEY" \
        --header "Idempotency-Key: $name-$3" --header 'Content-Type: application/json' --data-binary "$4" \
        --max-time 150 --retry 8
    echo
}

call POST sync begin '{"mode": "delta"}'
number=0
for batch in "$@"; do
    call POST records "$number" "@$batch"
    number=$((number + 1))
done
call PATCH sync complete '{}'
