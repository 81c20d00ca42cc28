"""Mails one card: send_card.py CAMPAIGN, with PILLARBOX_URL and PILLARBOX_KEY (a Full access key)."""

import os
import sys

from pillarbox import ApiError, Client

with Client(os.environ["PILLARBOX_URL"], os.environ["PILLARBOX_KEY"]) as client:
    nina = {"reference": "order-1", "first_name": "Nina", "address_1": "100 Congress Ave", "city": "Austin", "state": "TX", "zip": "78701"}
    try:
        answer = client.send_recipients(sys.argv[1], [nina])
    except ApiError as error:
        # Nothing was mailed or charged. The code says why, `pillarbox explain` what to do.
        sys.exit(str(error))
    result = answer.body["results"][0]
    # `mailed`, or `not_mailed` with a reason such as `duplicate_recent`.
    print(result["status"], result.get("reason", ""), result["detail"], f"cost {answer.cost_cents} cents, request {answer.request_id}")
