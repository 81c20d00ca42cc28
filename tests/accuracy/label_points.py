"""Labels a sample of Baltimore County's address points, in usaddress' XML.

    label_points.py POINTS.csv[.gz] COUNT > points.xml

The file's own columns are the labels: nobody had to read the address.
"""

import csv
import gzip
import random
import sys
from xml.sax.saxutils import escape

# The same sample in every run.
SEED = 4

# Columns in the order in which they are written, with usaddress' label.
PARTS = [
    ("ST_NUMBER", "AddressNumber"),
    ("ST_NUMSUFF", "AddressNumberSuffix"),
    ("ST_PREFIXD", "StreetNamePreDirectional"),
    ("ST_NAME", "StreetName"),
    ("ST_TYPE", "StreetNamePostType"),
    ("ST_SUFFIXD", "StreetNamePostDirectional"),
    ("CITY_POSTA", "PlaceName"),
    ("STATE", "StateName"),
    ("ZIP", "ZipCode"),
]


def labelled(row):
    words = (
        f"<{label}>{escape(word)}</{label}>"
        for column, label in PARTS
        for word in row[column].split()
    )
    return f"<AddressString>{' '.join(words)}</AddressString>"


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["STATUS"] == "ACTIVE" and row["CITY_POSTA"] and row["ST_NUMBER"] != "0"
        ]
    print("<AddressCollection>")
    for row in random.Random(SEED).sample(rows, count):
        print(labelled(row))
    print("</AddressCollection>")


if __name__ == "__main__":
    main()
