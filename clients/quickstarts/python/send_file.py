"""Mails everybody in a CSV file whose headings are fields: send_file.py CAMPAIGN PEOPLE.csv

429, 5xx and lost answers are waited out and sent again as the same requests. When it ends early, the same command goes on, and nobody is
mailed twice. PEOPLE.results.csv tells what became of each row; of a batch twice, if the command was killed while it wrote.
"""

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

from pillarbox import Client, new_key

campaign, people = sys.argv[1], Path(sys.argv[2])
progress, results = people.with_suffix(".progress.json"), people.with_suffix(".results.csv")


def save(state: dict[str, Any]) -> None:
    """Whoever is stopped in the middle leaves the old state whole."""
    new = progress.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.replace(progress)


# Which run it is stands in a file before anything is sent: it is what makes a repeat the same request.
state: dict[str, Any] = {"run": new_key(), "next": 0, "mailed": 0, "cents": 0}
if progress.exists():
    state = json.loads(progress.read_text())
save(state)

with (
    Client(os.environ["PILLARBOX_URL"], os.environ["PILLARBOX_KEY"]) as client,
    people.open(newline="") as rows,
    results.open("a", newline="") as told,
):
    written = csv.writer(told)
    batches = client.send_all(campaign, csv.DictReader(rows), run_id=state["run"], start_at=state["next"], batch_size=2000)
    for batch in batches:
        answer = batch.answer
        for result in answer.body["results"]:
            written.writerow([result["reference"], result["status"], result.get("reason", ""), result["address"], result["detail"]])
        told.flush()
        state["next"], state["mailed"] = batch.number + 1, state["mailed"] + answer.body["summary"]["mailed"]
        # A stored answer does not tell its cost again: see Billing.
        state["cents"] += answer.cost_cents or 0
        save(state)
        print(f"batch {batch.number}: {answer.body['summary']}", file=sys.stderr)

print(f"{state['mailed']} mailed for ${state['cents'] / 100:.2f}; each row's outcome is in {results}")
