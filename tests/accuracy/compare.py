"""How many labelled addresses are read right: by this project, by usaddress and by usaddress-scourgify.

    compare.py PILLARBOX NAME=FILE[,FILE...]... [--most COUNT] [--misses FILE]

PILLARBOX is the built program, each FILE labelled addresses in usaddress' XML. Prints the tables of docs/reference/address-accuracy.md.
"""

import argparse
import json
import re
import subprocess
import warnings
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from itertools import islice

import usaddress
from scourgify import normalize_address_record

from causes import cause
from normalise import FIELDS, letters, line, parts

# usaddress' labels by the field they are part of.
LABELS = {
    "AddressNumberPrefix": "number",
    "AddressNumber": "number",
    "AddressNumberSuffix": "number",
    "StreetNamePreDirectional": "predirectional",
    "StreetNamePreModifier": "street",
    "StreetNamePreType": "street",
    "StreetName": "street",
    "StreetNamePostModifier": "street",
    "StreetNamePostType": "suffix",
    "StreetNamePostDirectional": "postdirectional",
    "OccupancyIdentifier": "unit",
    "SubaddressIdentifier": "subaddress",
    "PlaceName": "city",
    "StateName": "state",
    "ZipCode": "zip",
    "USPSBoxGroupType": "group",
    "USPSBoxGroupID": "group",
    "USPSBoxID": "box",
}

# Intersections and what is no address cannot be mailed to.
NO_ADDRESS = {"IntersectionSeparator", "CornerOf", "NotAddress"}


def fields(tagged):
    """The fields of words and their labels."""
    found = defaultdict(list)
    for word, label in tagged:
        found[LABELS.get(label, label)].append(word)
    found = {label: " ".join(words) for label, words in found.items()}
    if "group" in found:
        found["rural_route"] = found.pop("group")
    elif "box" in found:
        found["po_box"] = found.pop("box")
    found.setdefault("unit", found.get("subaddress", ""))
    return parts(found)


def well_formed(file):
    """The addresses of a file. In a few sets some are no XML, like `<<OccupancyIdentifier>`; these are left out."""
    with open(file, encoding="utf-8") as opened:
        for address in re.findall(r"<AddressString>.*?</AddressString>", opened.read(), re.DOTALL):
            try:
                yield ET.fromstring(address)
            except ET.ParseError:
                continue


def labelled(files):
    """The addresses of the files: text and labelled fields."""
    for file in files:
        for address in well_formed(file):
            tagged = [(part.text or "", part.tag) for part in address]
            if not tagged or NO_ADDRESS & {label for _, label in tagged}:
                continue
            text = "".join((part.text or "") + (part.tail or " ") for part in address)
            yield " ".join(text.split()), fields(tagged)


def read_by_pillarbox(program, texts):
    """What `addresses parse` answers to each text."""
    sent = "".join(f"{text}\n" for text in texts)
    answered = subprocess.run([program, "addresses", "parse"], input=sent, capture_output=True, text=True, check=True)
    answers = [json.loads(answer) for answer in answered.stdout.splitlines()]
    assert len(answers) == len(texts)
    return answers


def line_of_scourgify(text):
    """The delivery line that scourgify makes, or none where it refuses."""
    try:
        record = normalize_address_record(text)
    except Exception:  # It has several kinds of refusal without a common ancestor.
        return None
    return letters(" ".join(filter(None, (record["address_line_1"], record["address_line_2"]))))


def has_one_line(gold):
    """The label says where the mail goes: one street or one box."""
    is_street = "number" in gold and "street" in gold
    is_box = "po_box" in gold or "rural_route" in gold
    return is_street != is_box and not (is_box and "street" in gold)


class Comparison:
    """Counts over one set of labelled addresses."""

    def __init__(self):
        self.counts = Counter()
        self.labelled, self.right = Counter(), {"ours": Counter(), "usaddress": Counter()}
        self.causes = Counter()
        self.misses = []

    def add(self, text, gold, answer):
        self.counts["addresses"] += 1
        ours, theirs = parts(answer), fields(usaddress.parse(text))
        for name, found in (("ours", ours), ("usaddress", theirs)):
            self.counts[f"whole {name}"] += found == gold
            self.right[name].update(field for field in gold if found.get(field) == gold[field])
        self.labelled.update(gold.keys())
        if ours != gold:
            reason = cause(text, gold, ours, answer)
            self.causes[reason] += 1
            self.misses.append({"cause": reason, "text": text, "labelled": gold, "ours": ours})
        if has_one_line(gold):
            self.counts["lines"] += 1
            self.counts["line ours"] += letters(answer.get("line1", "")) == line(gold)
            self.counts["line usaddress"] += line(theirs) == line(gold)
            self.counts["line scourgify"] += line_of_scourgify(text) == line(gold)

    def row(self, name):
        share = lambda key, of: f"{100 * self.counts[key] / max(self.counts[of], 1):.1f}"
        whole = [share(f"whole {who}", "addresses") for who in ("ours", "usaddress")]
        lines = [share(f"line {who}", "lines") for who in ("ours", "usaddress", "scourgify")]
        return f"| {name} | {self.counts['addresses']} | {' | '.join(whole + lines)} |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("sets", nargs="+", metavar="NAME=FILE")
    arguments.add_argument("--misses", help="write what this project reads otherwise, one JSON object a line")
    arguments.add_argument("--most", type=int, help="of each set only that many addresses, the first ones")
    options = arguments.parse_args()
    warnings.filterwarnings("ignore")
    print("| set | addresses | all parts: ours | usaddress | delivery line: ours | usaddress | scourgify |")
    print("|---|---|---|---|---|---|---|")
    comparisons = []
    for name, files in (pair.split("=", 1) for pair in options.sets):
        addresses = list(islice(labelled(files.split(",")), options.most))
        comparison = Comparison()
        for (text, gold), answer in zip(addresses, read_by_pillarbox(options.program, [text for text, _ in addresses])):
            comparison.add(text, gold, answer)
        comparisons.append((name, comparison))
        print(comparison.row(name), flush=True)
    for name, comparison in comparisons:
        print(f"\n{name}: parts right in per cent of those labelled (ours, usaddress)")
        for field in filter(comparison.labelled.get, FIELDS):
            count = comparison.labelled[field]
            shares = [100 * comparison.right[who][field] / count for who in ("ours", "usaddress")]
            print(f"  {field:16}{count:6}{shares[0]:8.1f}{shares[1]:8.1f}")
        print(f"{name}: addresses read otherwise, by cause")
        for reason, count in comparison.causes.most_common():
            print(f"  {count:5}  {reason}")
    if options.misses:
        with open(options.misses, "w", encoding="utf-8") as file:
            for _, comparison in comparisons:
                file.writelines(json.dumps(miss) + "\n" for miss in comparison.misses)


if __name__ == "__main__":
    main()
