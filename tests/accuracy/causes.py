"""Why an address is read otherwise than it was labelled: the first cause that fits, most telling first."""

from normalise import DIRECTIONS, letters

# Designators without an identifier (Publication 28 §213).
STANDING_ALONE = {"LOBBY", "REAR", "FRNT", "FRONT", "LOWER", "UPPER", "BSMT", "BASEMENT", "SIDE"}

SUFFIX_AS_NAME = "the last word of the name is a suffix or is none: split elsewhere, the street is the same"


def differing(gold, ours):
    return {field for field in gold.keys() | ours.keys() if gold.get(field) != ours.get(field)}


def street_text(fields):
    names = ("predirectional", "street", "suffix", "postdirectional")
    return letters(" ".join(fields[name] for name in names if name in fields))


def has_directional_inside(gold, ours):
    """`Avalon Park South Blvd`: Publication 28 §233.3 keeps the directional in the name."""
    moved = {gold.get("postdirectional", ""), gold.get("predirectional", "")} - {""}
    words = {DIRECTIONS.get(word, word) for word in ours.get("street", "").split()}
    return bool(moved & words)


def cause(text, gold, ours, answer):
    """A phrase for the tally."""
    fields = differing(gold, ours)
    street = fields & {"predirectional", "street", "suffix", "postdirectional"}
    if {"predirectional", "postdirectional"} == fields and gold.get("predirectional") == ours.get("postdirectional"):
        return "a directional behind the street, labelled as before it"
    if "number" not in gold and not {"po_box", "rural_route"} & gold.keys():
        return "labelled without a house number or box: a building or a part of an address"
    if {"po_box", "rural_route", "box"} & fields:
        return "another post office box or route"
    if fields <= {"predirectional", "street", "suffix", "postdirectional"}:
        if has_directional_inside(gold, ours):
            return "a directional inside the name (Publication 28 §233.3), labelled as a part of its own"
        if street_text(gold) == street_text(ours):
            return SUFFIX_AS_NAME
        return "another street"
    if fields == {"unit"}:
        if "po_box" in gold and "unit" in gold:
            return "a mail stop or the like beside a PO Box, labelled a unit"
        if gold.get("unit") in STANDING_ALONE and answer.get("unit_designator"):
            return "a designator that stands alone, labelled as its own identifier"
        if "unit" in gold and "unit" in ours:
            return "several units: another one is the unit"
        return "a unit not found" if "unit" in gold else "a unit where none is labelled"
    if fields <= {"city", "state", "zip"}:
        return "another city, state or ZIP"
    if "city" in fields and (street or "unit" in fields):
        return "street and city are parted elsewhere"
    if "number" in fields:
        return "another house number"
    return "several parts"
