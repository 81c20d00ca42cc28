"""Rows become requests within the service's limits (pure). The same rows always make the same requests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

#: Bytes of a request's body at the most.
BODY_BYTES = 4_456_448
#: Recipients of a send at the most; of a Neighborhood Mail campaign 250.
RECIPIENTS_PER_REQUEST = 5000
#: Records of a push at the most.
RECORDS_PER_BATCH = 1000


@dataclass(frozen=True)
class Batch:
    """Rows that go together."""

    #: From 0.
    number: int
    rows: list[Mapping[str, object]]
    #: The request's body.
    body: bytes


def write_json(value: object) -> bytes:
    """JSON without blanks. Raises ``ValueError`` for numbers that JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def wrap_rows(name: str, rest: Mapping[str, object]) -> tuple[bytes, bytes]:
    """What stands in a body before and behind its rows."""
    tail = write_json(dict(rest))[1:]
    return b'{"' + name.encode() + b'":[', b"]" + (b"," if len(tail) > 1 else b"") + tail


def split_rows(
    rows: Iterable[Mapping[str, object]], around: tuple[bytes, bytes], most_rows: int, most_bytes: int = BODY_BYTES
) -> Iterator[Batch]:
    """The rows in batches of at most so many rows and bytes. Raises ``ValueError`` at a row that is too large for any."""
    before, after = around
    room = most_bytes - len(before) - len(after)
    number, held, parts, size = 0, list[Mapping[str, object]](), list[bytes](), 0
    for position, row in enumerate(rows):
        part = write_json(row)
        if len(part) > room:
            raise ValueError(f"row {position} has {len(part)} bytes, and a request takes {room}")
        if held and (len(held) == most_rows or size + 1 + len(part) > room):
            yield Batch(number, held, before + b",".join(parts) + after)
            number, held, parts, size = number + 1, [], [], 0
        size += len(part) + (1 if held else 0)
        held.append(row)
        parts.append(part)
    if held:
        yield Batch(number, held, before + b",".join(parts) + after)
