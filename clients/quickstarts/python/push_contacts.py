"""Pushes all contacts of a CSV file as a full sync: push_contacts.py CONTACTS.csv, with PILLARBOX_KEY (a key of the integration).

The file has the columns id, first_name, last_name, address_1, city, state, zip and visits. Contacts that it lacks are removed.
"""

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from pillarbox import ApiError, Client, models

PARTS = ("first_name", "last_name", "address_1", "city", "state", "zip")


def read_records(path: Path) -> Iterator[models.Record]:
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            yield {"external_id": row.pop("id"), "fields": {**row}}


with Client(os.environ["PILLARBOX_URL"], os.environ["PILLARBOX_KEY"]) as client:
    fields: list[models.DeclaredField] = [{"key": part, "semantic": part} for part in PARTS]
    client.declare_fields([*fields, {"key": "visits", "type": "number"}])
    try:
        synced = client.sync_contacts(read_records(Path(sys.argv[1])), mode="full")
    except ApiError as error:
        if error.code == "removal_guard":
            sys.exit(f"{error.details['count']} contacts would be removed: is the file whole? Nothing was removed.")
        raise
    for rejection in synced.rejections:
        print(rejection["externalId"], rejection["code"], rejection["message"], file=sys.stderr)
    removed = synced.completed["markedRemoved"] if synced.completed else 0
    print(f"{synced.accepted} accepted, {len(synced.rejections)} rejected, {removed} removed")
