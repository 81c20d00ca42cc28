#!/bin/sh
# Sends prepared requests, each a file with a body of at most 5000 recipients: send_file.sh BODY.json…
#
# What fails in passing (429, 5xx, a lost connection) is sent again as the same bytes with the same key. Bodies whose answers are there
# already are left out, so the same command goes on where it ended. Nobody is mailed twice: within 15 minutes a repeat gets the first
# answer, and later `duplicate_recent` or, for teams that have switched keys on, the first answer for 7 days.
set -eu

# post BODY ANSWER: one attempt; prints the status, 000 without a whole answer.
post() {
    curl --silent "$PILLARBOX_URL/api/v1/recipients" --header "Authorization: Bearer $PILLARBOX_KEY" \
        --header "Idempotency-Key: $(sha256sum "$1" | cut -c1-64)" --header 'Content-Type: application/json' \
        --data-binary "@$1" --max-time 150 --output "$2" --dump-header "$2.head" --write-out '%{http_code}' || echo " 000"
}

for body in "$@"; do
    answer=${body%.json}.answer.json
    part=$answer.$$
    if [ -s "$answer" ]; then continue; fi
    pause=1
    while status=$(post "$body" "$part") && status=${status##* } && [ "$status" != 200 ]; do
        case $status in
            000 | 408 | 429 | 500 | 502 | 503 | 504) ;;
            *) grep -q '"in_progress"' "$part" || { cat "$part" >&2; exit 1; } ;;
        esac
        if [ "$pause" -gt 600 ]; then echo "given up: $body may be done; run this again later" >&2; exit 1; fi
        asked=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$part.head" 2>/dev/null || true)
        sleep "${asked:-$pause}"
        pause=$((pause * 2))
    done
    rm -f "$part.head"
    mv "$part" "$answer"
    echo "$answer"
done
