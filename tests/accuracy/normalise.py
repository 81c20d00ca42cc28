"""One spelling for each part, for what was labelled and for what any parser found alike.

The tables of suffixes, directionals and states are usaddress-scourgify's, so that none of them is the project's.
"""

import re

from scourgify.address_constants import STATE_ABBREVIATIONS, STREET_TYPE_ABBREVIATIONS

FIELDS = ["number", "predirectional", "street", "suffix", "postdirectional", "unit"]
FIELDS += ["po_box", "rural_route", "box", "city", "state", "zip"]

DIRECTIONS = {"NORTH": "N", "SOUTH": "S", "EAST": "E", "WEST": "W", "NO": "N", "SO": "S"}
DIRECTIONS |= {"NORTHEAST": "NE", "NORTHWEST": "NW", "SOUTHEAST": "SE", "SOUTHWEST": "SW"}
NUMBERS = {"ONE": "1", "TWO": "2", "THREE": "3", "FOUR": "4", "FIVE": "5", "SIX": "6", "SEVEN": "7"}
NUMBERS |= {"EIGHT": "8", "NINE": "9", "TEN": "10", "FIFTY": "50"}
ORDINALS = {"FIRST": "1", "SECOND": "2", "THIRD": "3", "FOURTH": "4", "FIFTH": "5", "SIXTH": "6"}
CITY_WORDS = {"ST": "SAINT", "STE": "SAINTE", "FT": "FORT", "MT": "MOUNT", "PT": "POINT", "PK": "PARK"}
CITY_WORDS |= {"TWP": "TOWNSHIP", "VY": "VALLEY", "N": "NORTH", "S": "SOUTH", "E": "EAST", "W": "WEST"}
ROADS = [
    (r"^U S\b", "US"),
    (r"^US (HWY |ROUTE |RTE |RT )?(?=\d)", "US HWY "),
    (r"^(SR|STATE RD|STATE ROAD) (?=\d)", "STATE RD "),
    (r"^(CR|CO RD|CO ROAD|COUNTY ROAD|COUNTRY RD|COUNTY RD) ", "COUNTY RD "),
    (r"^I (?=\d)", "INTERSTATE "),
    (r"^FARM TO MARKET( ROAD)? ", "FM "),
    (r"^(ROUTE|RTE|RT) (?=\d)", "RTE "),
]
# Words of road names.
ROAD_WORDS = {"ROUTE": "RTE", "RT": "RTE"}
# Suffixes as some labels misspell them.
MISSPELLED = {"BKVD": "BLVD", "BOULEVAR": "BLVD", "BVD": "BLVD", "EXPWY": "EXPY", "HGWY": "HWY", "PAKWAY": "PKWY"}
MISSPELLED |= {"PY": "PKWY", "STEET": "ST", "STREE": "ST"}
# States in front of a road.
STATE_ROADS = ("RTE", "ROUTE", "RT", "HWY", "HIGHWAY")
ROUTES = [
    (r"^(RURAL ROUTE|RURAL RT|RURAL|RTE|RT|ROUTE|RFD|R R|RR|RD)\s*(?=\d|$)", "RR "),
    (r"^(HIGHWAY CONTRACT|HWY CONTRACT|STAR|HCR|HC|H C)( ROUTE| RTE)?\s*(?=\d|$)", "HC "),
]


def plain(text):
    """Capitals, single spaces, no punctuation but what stands in numbers."""
    text = re.sub(r"[,;()]", " ", text.upper())
    return " ".join(re.sub(r"[^A-Z0-9/#&\- ]", "", text).split())


def words(text, table):
    return " ".join(table.get(word, word) for word in text.replace("-", " ").split())


def replaced(text, rules):
    for pattern, standard in rules:
        text = re.sub(pattern, standard, text)
    return " ".join(text.split())


def direction(text):
    joined = text.replace(" ", "")
    return DIRECTIONS.get(joined, "".join(DIRECTIONS.get(word, word) for word in text.split()))


def suffix(text):
    return MISSPELLED.get(text, STREET_TYPE_ABBREVIATIONS.get(text, text))


def street(text):
    text = replaced(re.sub(r"\b(NO|#)(?= ?\d)", " ", text), ROADS)
    first, _, rest = text.partition(" ")
    if rest.startswith(STATE_ROADS):
        text = f"{STATE_ABBREVIATIONS.get(first, first)} {rest}"
    for table in (DIRECTIONS, STREET_TYPE_ABBREVIATIONS, ROAD_WORDS):
        text = words(text, table)
    return text


def unit(text):
    text = re.sub(r"^(NO |STE|SUITE|UNIT|APT)(?=\s*\d)", "", text).replace("#", "").strip()
    text = re.sub(r"^(\d+)(ST|ND|RD|TH)$", r"\1", text)
    return ORDINALS.get(text, text).replace(" ", "").replace("-", "")


def zip_code(text):
    return text.split("-")[0][:5].zfill(5) if text[:4].isdigit() else text


NORMALISERS = {
    "number": lambda text: NUMBERS.get(text, text).replace("#", "").replace(" ", ""),
    "predirectional": direction,
    "postdirectional": direction,
    "street": street,
    "suffix": suffix,
    "unit": unit,
    "po_box": lambda text: text.replace("#", "").replace(" ", ""),
    "box": lambda text: text.replace("#", "").replace(" ", ""),
    "rural_route": lambda text: replaced(text.replace("#", " "), ROUTES).replace(" 0", " "),
    "city": lambda text: words(text, CITY_WORDS),
    "state": lambda text: STATE_ABBREVIATIONS.get(text, text),
    "zip": zip_code,
}


def parts(found):
    """The fields of an address, each in its one spelling; what is empty is absent."""
    normal = {field: NORMALISERS[field](plain(found[field])) for field in FIELDS if found.get(field)}
    return {field: text for field, text in normal.items() if text}


def letters(text):
    """A delivery line without spaces, designators and signs."""
    designators = r"\b(APT|APARTMENT|STE|SUITE|UNIT|FL|FLOOR|BLDG|BUILDING|RM|ROOM|LOT|SPC|SPACE|TRLR|DEPT|PH|OFC)\b|#"
    return "".join(character for character in street(re.sub(designators, " ", plain(text))) if character.isalnum())


def line(fields):
    """The delivery line of these parts, to be compared with `letters` of a written one."""
    if "po_box" in fields:
        text = f"PO BOX {fields['po_box']}"
    elif "rural_route" in fields:
        text = f"{fields['rural_route']} BOX {fields['box']}" if "box" in fields else fields["rural_route"]
    else:
        text = " ".join(fields[field] for field in FIELDS[:5] if field in fields)
    return letters(text) + fields.get("unit", "")
