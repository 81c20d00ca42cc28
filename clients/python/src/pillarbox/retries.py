"""What follows an attempt at a request (pure)."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import AnswerLostError, ApiError, PillarboxError, UnreadableAnswerError

#: Seconds that are waited after a 429 without ``Retry-After``.
RATE_WINDOW = 60.0


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long. Times are in seconds."""

    #: Attempts that fail, one at least.
    tries: int = 5
    #: The pause after the first failure; each further one is twice as long, a random quarter less.
    pause: float = 1.0
    #: The longest pause after a failure.
    longest_pause: float = 60.0
    #: Times in a row that a 429 is waited out.
    rate_waits: int = 60
    #: The longest time that ``Retry-After`` is followed.
    longest_rate_wait: float = 600.0
    #: Questions about a request whose answer was lost, while the service works on it.
    look_ups: int = 60
    #: The pause between two of them.
    look_up_pause: float = 5.0


@dataclass(frozen=True)
class Received:
    """An answer as it came. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def request_id(self) -> str | None:
        return self.headers.get("x-request-id")

    @property
    def is_replayed(self) -> bool:
        return "idempotency-replayed" in self.headers

    @property
    def cost_cents(self) -> int | None:
        cost = self.headers.get("x-cost-cents", "")
        return int(cost) if cost.isdigit() else None

    def retry_after(self, otherwise: float = RATE_WINDOW) -> float:
        """Seconds that the service asks to wait. A date, which it never gives, counts as absent."""
        asked = self.headers.get("retry-after", "").strip()
        return float(asked) if asked.isdigit() else otherwise

    def read_json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise UnreadableAnswerError(f"the answer with status {self.status} is no JSON: is the base URL right?") from error

    def to_error(self, may_be_done: bool = False) -> PillarboxError:
        """The error that the body tells of, in the envelope of either API."""
        try:
            body = self.read_json()
        except UnreadableAnswerError as unreadable:
            unreadable.request_id = self.request_id
            return unreadable
        told = body.get("error", body) if isinstance(body, dict) else {}
        if not isinstance(told, dict) or not isinstance(told.get("code"), str):
            strange = UnreadableAnswerError(f"{self.status}, not in Pillarbox's words: is the base URL right?")
            strange.request_id = self.request_id
            return strange
        return ApiError(
            self.status,
            told["code"],
            str(told.get("message", "")),
            request_id=self.request_id,
            details=told.get("details"),
            may_be_done=may_be_done,
        )


class RetryState:
    """The attempts at one request so far."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failures = 0
        self._rate_waits = 0
        #: How often the request was sent.
        self.attempts = 0
        #: Whether an attempt may have been carried out without our knowing.
        self.has_lost_an_answer = False

    def next_pause(self, attempt: Received | AnswerLostError) -> float | None:
        """Seconds to wait before the same again; ``None`` when this is the end, good or bad."""
        if isinstance(attempt, AnswerLostError):
            self.has_lost_an_answer = True
            return self._pause_after_failure()
        if attempt.status == 429:
            self._rate_waits += 1
            if self._rate_waits > self._policy.rate_waits:
                return None
            return min(attempt.retry_after(), self._policy.longest_rate_wait)
        if is_left_open(attempt):
            self.has_lost_an_answer = True
            return self._pause_after_failure()
        # Nothing was done (500, 503), or our own earlier attempt is still running.
        if attempt.status in (500, 503) or (attempt.status == 409 and attempt.to_error().code == "in_progress"):
            pause = self._pause_after_failure()
            return None if pause is None else max(pause, min(attempt.retry_after(0.0), self._policy.longest_rate_wait))
        return None

    def _pause_after_failure(self) -> float | None:
        self._failures += 1
        self._rate_waits = 0
        if self._failures >= self._policy.tries:
            return None
        doubled = self._policy.pause * 2.0 ** min(self._failures - 1, 16)
        # Clients that failed together do not come back together.
        return min(doubled, self._policy.longest_pause) * random.uniform(0.75, 1.0)


def is_left_open(attempt: Received) -> bool:
    """Whether the request may have been carried out: a deadline that passed, or a balancer's lost connection."""
    return attempt.status in (408, 502, 504)


def is_worth_repeating(attempt: Received) -> bool:
    """Whether the same request may be answered otherwise later."""
    return attempt.status in (408, 429, 500, 502, 503, 504)
