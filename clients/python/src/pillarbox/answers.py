"""What operations give back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from . import models

T = TypeVar("T")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """An answer with status 200."""

    #: What it says. Fields that this package does not know are in it, too.
    body: T
    #: Its ``X-Request-Id``.
    request_id: str | None
    #: Whether it is the stored answer of an earlier attempt.
    is_replayed: bool
    #: What a send has cost, in US cents, when the service tells.
    cost_cents: int | None
    #: Whether an attempt before may have been carried out: then ``duplicate_recent`` may mean that it mailed the recipient.
    after_lost_answer: bool
    #: How often the request was sent.
    attempts: int


@dataclass(frozen=True)
class SentBatch:
    """What came of one batch of recipients."""

    #: To be given to go on later.
    run_id: str
    number: int
    recipients: list[Mapping[str, object]]
    answer: Answer[models.SendResponse]


@dataclass(frozen=True)
class PushedBatch:
    """What came of one batch of records."""

    #: To be given to go on later.
    run_id: str
    number: int
    records: list[Mapping[str, object]]
    answer: Answer[models.PushAnswer]


@dataclass
class SyncedContacts:
    """What came of a whole sync. ``rejections`` have their position in their batch; the records' ids tell them apart."""

    run_id: str
    sync_id: str
    accepted: int = 0
    deleted: int = 0
    rejections: list[models.Rejection] = field(default_factory=list)
    warnings: list[models.WarningGroup] = field(default_factory=list)
    completed: models.CompleteAnswer | None = None

    def add_batch(self, batch: PushedBatch) -> None:
        """Counts a batch in."""
        pushed = batch.answer.body
        self.accepted += pushed["accepted"]
        self.deleted += pushed["deleted"]
        self.rejections += pushed["rejections"]
        self.warnings += pushed["warnings"]
