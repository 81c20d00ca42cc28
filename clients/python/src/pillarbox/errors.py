"""What can go wrong, with the service's code and the request's id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class PillarboxError(Exception):
    """Every error of this package."""

    #: The code of the service's answer, such as ``campaign_not_found``; ``None`` when there was no answer to read.
    code: str | None = None
    #: The answer's ``X-Request-Id``, which names the request in the service's logs.
    request_id: str | None = None
    #: Whether the request may have been carried out all the same.
    may_be_done: bool = False
    #: Of an upload: its name and the number of the batch that failed, to go on from.
    run_id: str | None = None
    batch: int | None = None


class ApiError(PillarboxError):
    """The service refused the request, and would again. Codes that this package does not know are possible."""

    code: str

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        request_id: str | None = None,
        details: Mapping[str, Any] | None = None,
        may_be_done: bool = False,
    ) -> None:
        super().__init__(f"{status} {code}: {message} (request {request_id}; `pillarbox explain {code}` says more)")
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.details: Mapping[str, Any] = details or {}
        self.may_be_done = may_be_done


class AnswerLostError(PillarboxError):
    """The connection could not be made, or was lost before the answer was whole."""


class UnreadableAnswerError(PillarboxError):
    """What answered does not speak as the service does: is the base URL right?"""


class GaveUpError(PillarboxError):
    """The request was tried again and again. ``last`` is what came of the last attempt."""

    def __init__(self, attempts: int, last: PillarboxError, may_be_done: bool) -> None:
        super().__init__(f"gave up after {attempts} attempts; the last one ended with: {last}")
        self.attempts = attempts
        self.last = last
        self.code = last.code
        self.request_id = last.request_id
        self.may_be_done = may_be_done


class SyncOverError(PillarboxError):
    """The sync of this run is over and another one is open, into which records of this run would go: begin a new run."""


class WebhookError(PillarboxError):
    """A delivery whose signature does not prove that it comes from the service."""
