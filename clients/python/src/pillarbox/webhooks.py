"""Does a delivery come from the service? As the Standard Webhooks specification has it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from .errors import WebhookError
from .models import QrScanned

#: Seconds that a delivery's time may differ from ours.
TOLERANCE = 300.0


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE, now: float | None = None
) -> QrScanned:
    """Checks the signature of a delivery, and reads its event.

    ``body`` are the bytes as they came, ``secret`` is the endpoint's ``whsec_…``. Raises :class:`WebhookError`. Deliveries come at
    least once: skip an ``id`` that you have seen.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        event_id, sent_at, signatures = (named[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
    except KeyError as error:
        raise WebhookError(f"the delivery has no {error.args[0]} header: is signing switched on for the endpoint?") from None
    if not sent_at.isdigit():
        raise WebhookError("webhook-timestamp is no time")
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance:
        raise WebhookError("the delivery is too old, or from the future")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise WebhookError("the secret is not one of an endpoint: it begins with whsec_") from None
    signed = hmac.new(key, f"{event_id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(signed)
    # After a rotation there are two.
    if not any(hmac.compare_digest(expected, given.encode()) for given in signatures.split(" ")):
        raise WebhookError("no signature of the delivery fits the secret")
    try:
        event = json.loads(body)
    except ValueError:
        raise WebhookError("the delivery's body is no JSON") from None
    if not isinstance(event, dict) or event.get("id") != event_id:
        raise WebhookError("the delivery's body is not that of its webhook-id")
    return cast(QrScanned, event)
