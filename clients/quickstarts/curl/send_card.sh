#!/bin/sh
# Mails one card: send_card.sh CAMPAIGN, with PILLARBOX_URL and PILLARBOX_KEY (a Full access key).
set -eu

curl --silent --show-error --fail-with-body "$PILLARBOX_URL/api/v1/recipients" \
    --header "Authorization: Bearer $PILLARBOX_KEY" \
    --data '{"campaign_id": "'"$1"'", "recipients": [{"reference": "order-1", "first_name": "Nina",
        "address_1": "104 Congress Ave", "city": "Austin", "state": "TX", "zip": "78701"}]}'
