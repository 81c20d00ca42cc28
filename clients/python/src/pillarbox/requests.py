"""Requests as they are sent (pure)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from .operations import OPERATIONS


@dataclass(frozen=True)
class Request:
    """One request. It is the same one however often it is sent."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def changes_something(self) -> bool:
        return self.method != "GET" and "validate" not in self.query


def new_key() -> str:
    """An ``Idempotency-Key`` that nobody else uses."""
    return uuid.uuid4().hex


def build_request(
    operation: str, parameters: Mapping[str, str | int | None] | None = None, *, body: bytes | None = None
) -> Request:
    """The request of an operation. Parameters that are ``None`` are left out."""
    method, path, known = OPERATIONS[operation]
    query, headers = dict[str, str](), dict[str, str]()
    for name, value in (parameters or {}).items():
        if name not in known:
            raise ValueError(f"{operation} takes no {name}")
        if value is None:
            continue
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        elif name == "Idempotency-Key":
            headers["idempotency-key"] = str(value)
        else:
            query[name] = str(value)
    if body is not None:
        headers["content-type"] = "application/json"
    return Request(method, path, query, headers, body)
