"""Client of Pillarbox: send direct mail, sync contacts, hear of scans.

:class:`Client` waits, :class:`AsyncClient` is awaited; they do the same.
"""

from . import models
from .aio import AsyncClient
from .answers import Answer, PushedBatch, SentBatch, SyncedContacts
from .client import Client
from .errors import AnswerLostError, ApiError, GaveUpError, PillarboxError, SyncOverError, UnreadableAnswerError, WebhookError
from .requests import new_key
from .retries import RetryPolicy
from .version import VERSION as __version__
from .webhooks import verify_webhook

__all__ = [
    "Answer",
    "AnswerLostError",
    "ApiError",
    "AsyncClient",
    "Client",
    "GaveUpError",
    "PillarboxError",
    "PushedBatch",
    "RetryPolicy",
    "SentBatch",
    "SyncOverError",
    "SyncedContacts",
    "UnreadableAnswerError",
    "WebhookError",
    "__version__",
    "models",
    "new_key",
    "verify_webhook",
]
