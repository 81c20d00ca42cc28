# Made by clients/generate from aio.py. Changes belong there.
"""The service as a blocking client sees it: operations by their names in the API document, and what is built on them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Iterable, Mapping
from time import monotonic
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import httpx

from . import models
from .answers import Answer, PushedBatch, SentBatch, SyncedContacts
from .batches import RECIPIENTS_PER_REQUEST, RECORDS_PER_BATCH, split_rows, wrap_rows, write_json
from .errors import AnswerLostError, GaveUpError, PillarboxError, SyncOverError
from .requests import Request, build_request, new_key
from .retries import Received, RetryPolicy, RetryState, is_left_open, is_worth_repeating
from .version import VERSION

T = TypeVar("T")

#: Seconds to wait for a connection, and for a whole answer: longer than the service waits for its workers.
CONNECT_TIMEOUT, ANSWER_TIMEOUT = 5.0, 150.0

#: Bytes of an answer that are read: twice what the service's have at the most.
ANSWER_BYTES = 8 * 1024 * 1024


class Client:
    """A Pillarbox service and a key to it: a Full access key for sends, mailpieces and scans, an integration's key for contacts.

    Requests that fail in passing are sent again, always as the same bytes with the same key, so nothing is done twice. Answers are
    plain dictionaries of the types in :mod:`pillarbox.models`; fields and codes that this package does not know come through.
    """

    def __init__(
        self, base_url: str, key: str, *, retry: RetryPolicy | None = None, http: httpx.Client | None = None
    ) -> None:
        if not base_url.startswith(("https://", "http://")):
            raise ValueError("base_url must begin with https:// or http://")
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("the key is empty or holds blanks: give it as it was shown")
        self._base_url = base_url.rstrip("/")
        self._headers = {"authorization": f"Bearer {key}", "user-agent": f"pillarbox-python/{VERSION}"}
        self._retry = retry or RetryPolicy()
        self._http = http or httpx.Client(timeout=httpx.Timeout(ANSWER_TIMEOUT, connect=CONNECT_TIMEOUT))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    # Sends.

    def send_recipients(
        self,
        campaign_id: str,
        recipients: Iterable[models.Recipient | Mapping[str, models.Scalar]],
        *,
        field_types: Mapping[str, models.CustomFieldType] | None = None,
        require_variable_images: bool = False,
        send_on: str | None = None,
        expect_total: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer[models.SendResponse]:
        """Mails recipients, 5000 at the most; with ``send_on`` not before this day, such as ``"2026-12-24"``. With ``expect_total``, in US
        cents, only if the cards cost that together (409 ``price_changed``). The key counts once the team has switched keys on."""
        around = wrap_rows("recipients", _send_rest(campaign_id, field_types, require_variable_images, send_on, expect_total))
        body = around[0] + write_json(list(recipients))[1:-1] + around[1]
        return self._send(body, idempotency_key or new_key())

    def validate_recipients(
        self,
        campaign_id: str,
        recipients: Iterable[models.Recipient | Mapping[str, models.Scalar]],
        *,
        field_types: Mapping[str, models.CustomFieldType] | None = None,
        require_variable_images: bool = False,
        send_on: str | None = None,
        expect_total: int | None = None,
    ) -> Answer[models.SendValidation]:
        """Tells what would become of a send and what it would cost. Mails and charges nothing."""
        around = wrap_rows("recipients", _send_rest(campaign_id, field_types, require_variable_images, send_on, expect_total))
        body = around[0] + write_json(list(recipients))[1:-1] + around[1]
        request = build_request("sendRecipients", {"validate": "1"}, body=body)
        return self._ask(request, models.SendValidation)

    def send_all(
        self,
        campaign_id: str,
        recipients: Iterable[models.Recipient | Mapping[str, models.Scalar]],
        *,
        run_id: str | None = None,
        start_at: int = 0,
        batch_size: int = RECIPIENTS_PER_REQUEST,
        field_types: Mapping[str, models.CustomFieldType] | None = None,
        require_variable_images: bool = False,
        send_on: str | None = None,
    ) -> Iterator[SentBatch]:
        """Mails any number of recipients in batches that keep to the limits, one after the other.

        To go on after an interruption, give the same recipients, ``run_id`` and ``batch_size``, and as ``start_at`` the number of the
        batch after the last one that came: what was under way is sent again as the same request. An error has both as ``run_id`` and
        ``batch``.
        """
        run = run_id or new_key()
        around = wrap_rows("recipients", _send_rest(campaign_id, field_types, require_variable_images, send_on, None))
        for batch in split_rows(recipients, around, batch_size):
            if batch.number < start_at:
                continue
            try:
                answer = self._send(batch.body, f"{run}-{batch.number}")
            except PillarboxError as error:
                error.batch, error.run_id = batch.number, run
                raise
            yield SentBatch(run, batch.number, batch.rows, answer)

    def get_request(self, request_id: str) -> Answer[models.RequestAnswer]:
        """What became of a send, by the ``X-Request-Id`` of its answer."""
        return self._ask(build_request("getRequest", {"id": request_id}), models.RequestAnswer)

    # Cancelling and holding.

    def cancel_mailpiece(self, mailpiece_id: str) -> Answer[models.CancelledMailpiece]:
        """Cancels a mailpiece and gives its price back. What is in a print run is mailed (409 ``already_printed``)."""
        return self._ask(build_request("cancelMailpiece", {"id": mailpiece_id}), models.CancelledMailpiece)

    def cancel_by_reference(self, campaign_id: str, reference: str) -> Answer[models.CancelledMailpieces]:
        """Cancels what a campaign has queued for the recipients that were sent with this reference."""
        body = write_json({"campaign_id": campaign_id, "reference": reference})
        return self._ask(build_request("cancelByReference", body=body), models.CancelledMailpieces)

    def cancel_request(self, request_id: str) -> Answer[models.CancelledMailpieces]:
        """Cancels what a send has queued, by the ``X-Request-Id`` of its answer."""
        return self._ask(build_request("cancelRequest", {"id": request_id}), models.CancelledMailpieces)

    def hold_campaign(self, campaign_id: str) -> Answer[models.CampaignHoldAnswer]:
        """Keeps a campaign's mailpieces from printing, those that are made meanwhile included."""
        return self._ask(build_request("holdCampaign", {"id": campaign_id}), models.CampaignHoldAnswer)

    def release_campaign(self, campaign_id: str) -> Answer[models.CampaignHoldAnswer]:
        """Gives the mailpieces of a held campaign back to the queue."""
        return self._ask(build_request("releaseCampaign", {"id": campaign_id}), models.CampaignHoldAnswer)

    # Mailpieces, campaigns and the ledger.

    def list_mailpieces(
        self,
        *,
        cursor: str | None = None,
        limit: int = 100,
        changes: bool = False,
        changed_since: str | None = None,
        campaign_id: str | None = None,
        state: models.MailpieceState | None = None,
        reference: str | None = None,
    ) -> Answer[models.MailpiecesAnswer]:
        """A page of the team's mailpieces, in the order in which they were paid; with ``changes``, or from ``changed_since`` on (such as
        ``"2026-11-24T09:00:00Z"``), of what has changed. It may be empty while ``has_more`` is true."""
        query: dict[str, str | int | None] = {"cursor": cursor, "limit": limit, "changes": "true" if changes else None}
        query |= {"changed_since": changed_since, "campaign_id": campaign_id, "state": state, "reference": reference}
        return self._ask(build_request("listMailpieces", query), models.MailpiecesAnswer)

    def mailpieces(
        self,
        *,
        cursor: str | None = None,
        campaign_id: str | None = None,
        state: models.MailpieceState | None = None,
        reference: str | None = None,
    ) -> Iterator[models.Mailpiece]:
        """Every mailpiece of the team, from a cursor on, each once."""
        while True:
            page = (
                self.list_mailpieces(
                    cursor=cursor, limit=1000, campaign_id=campaign_id, state=state, reference=reference
                )
            ).body
            for mailpiece in page["mailpieces"]:
                yield mailpiece
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    def change_pages(
        self,
        *,
        cursor: str | None = None,
        changed_since: str | None = None,
        follow: bool = True,
        pause: float = 60.0,
        campaign_id: str | None = None,
        state: models.MailpieceState | None = None,
        reference: str | None = None,
    ) -> Iterator[models.MailpiecesAnswer]:
        """What has changed, page by page: keep ``next_cursor`` of each to go on later. It never ends, asking again after a pause of
        seconds where there is no more, unless ``follow`` is false: then it ends there."""
        while True:
            page = (
                self.list_mailpieces(
                    cursor=cursor,
                    limit=1000,
                    changes=True,
                    changed_since=None if cursor else changed_since,
                    campaign_id=campaign_id,
                    state=state,
                    reference=reference,
                )
            ).body
            if page["mailpieces"] or cursor is None:
                yield page
            cursor = page["next_cursor"]
            if page["has_more"]:
                continue
            if not follow:
                return
            time.sleep(pause)

    def changes(
        self,
        *,
        cursor: str | None = None,
        changed_since: str | None = None,
        follow: bool = True,
        pause: float = 60.0,
        campaign_id: str | None = None,
        state: models.MailpieceState | None = None,
        reference: str | None = None,
    ) -> Iterator[models.Mailpiece]:
        """The mailpieces of :meth:`change_pages`: each as often as it has changed, as it is now."""
        for page in self.change_pages(
            cursor=cursor,
            changed_since=changed_since,
            follow=follow,
            pause=pause,
            campaign_id=campaign_id,
            state=state,
            reference=reference,
        ):
            for mailpiece in page["mailpieces"]:
                yield mailpiece

    def get_mailpiece(self, mailpiece_id: str) -> Answer[models.MailpieceAnswer]:
        """One mailpiece, with what happened to it and what is expected."""
        return self._ask(build_request("getMailpiece", {"id": mailpiece_id}), models.MailpieceAnswer)

    def list_campaigns(self, *, cursor: str | None = None, limit: int = 100) -> Answer[models.CampaignsAnswer]:
        """A page of the team's campaigns, in the order of their ids."""
        return self._ask(build_request("listCampaigns", {"cursor": cursor, "limit": limit}), models.CampaignsAnswer)

    def campaigns(self) -> Iterator[models.Campaign]:
        """Every campaign of the team."""
        cursor: str | None = None
        while True:
            page = (self.list_campaigns(cursor=cursor, limit=1000)).body
            for campaign in page["campaigns"]:
                yield campaign
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    def get_campaign(
        self, campaign_id: str, *, from_day: str | None = None, to_day: str | None = None
    ) -> Answer[models.CampaignAnswer]:
        """One campaign, with its steps, and its figures from one day to another: 30 days unless they are given."""
        request = build_request("getCampaign", {"id": campaign_id, "from": from_day, "to": to_day})
        return self._ask(request, models.CampaignAnswer)

    def list_bookings(self, *, cursor: str | None = None, limit: int = 100) -> Answer[models.LedgerAnswer]:
        """A page of the team's ledger, in the order in which it was booked. Keep ``next_cursor`` to go on later."""
        return self._ask(build_request("listBookings", {"cursor": cursor, "limit": limit}), models.LedgerAnswer)

    def bookings(self, *, cursor: str | None = None) -> Iterator[models.LedgerBooking]:
        """Every booking of the ledger from a cursor on, each once."""
        while True:
            page = (self.list_bookings(cursor=cursor, limit=1000)).body
            for booking in page["bookings"]:
                yield booking
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    # Scans.

    def list_scans(self, *, after: str | None = None, wait: int = 0) -> Answer[models.ScansAnswer]:
        """A page of the feed of scans after a cursor; without one the end of the feed. Waits up to 25 seconds while there is nothing."""
        return self._ask(build_request("listScans", {"after": after, "wait": wait}), models.ScansAnswer)

    def scan_pages(self, *, after: str | None = None, follow: bool = True, wait: int = 20) -> Iterator[models.ScansAnswer]:
        """The feed of scans from a cursor on, page by page: keep ``nextAfter`` of each to go on later. It never ends, unless
        ``follow`` is false: then it ends where the feed does."""
        while True:
            page = (self.list_scans(after=after, wait=wait if follow and after else 0)).body
            if page["events"] or after is None:
                yield page
            if not follow and not page["events"]:
                return
            after = page["nextAfter"]

    def scans(self, *, after: str | None = None, follow: bool = True, wait: int = 20) -> Iterator[models.QrScanned]:
        """The scans of the feed from a cursor on, each once."""
        for page in self.scan_pages(after=after, follow=follow, wait=wait):
            for event in page["events"]:
                yield event

    # Contacts of an integration.

    def get_integration(self) -> Answer[models.IntegrationAnswer]:
        """The key's integration, its open sync, the limits, and what to call next."""
        return self._ask(build_request("getIntegration"), models.IntegrationAnswer)

    def get_schema(self) -> Answer[models.SchemaAnswer]:
        """The declared fields."""
        return self._ask(build_request("getSchema"), models.SchemaAnswer)

    def declare_fields(self, fields: Iterable[models.DeclaredField]) -> Answer[models.DeclareAnswer]:
        """Declares fields. What is left out of a field is reset; fields that are not mentioned stay."""
        body = write_json({"fields": list(fields)})
        return self._ask(build_request("declareFields", body=body), models.DeclareAnswer)

    def get_sync(self) -> Answer[models.SyncAnswer]:
        """The latest sync."""
        return self._ask(build_request("getSync"), models.SyncAnswer)

    def begin_sync(
        self, mode: models.SyncMode = "full", *, idempotency_key: str | None = None
    ) -> Answer[models.OpenSync]:
        """Begins a sync. Completing a full one removes every contact that it has not received."""
        request = build_request("beginSync", {"Idempotency-Key": idempotency_key or new_key()}, body=write_json({"mode": mode}))
        return self._ask(request, models.OpenSync)

    def push_records(
        self, records: Iterable[models.Record], *, idempotency_key: str | None = None
    ) -> Answer[models.PushAnswer]:
        """Pushes a batch into the open sync, 1000 records at the most. Bad records are rejected one by one."""
        return self._push(write_json({"records": list(records)}), idempotency_key or new_key())

    def validate_records(self, records: Iterable[models.Record]) -> Answer[models.DryRunAnswer]:
        """Checks a batch as a push does, and changes nothing."""
        body = write_json({"records": list(records)})
        return self._ask(build_request("pushRecords", {"validate": "1"}, body=body), models.DryRunAnswer)

    def complete_sync(
        self, sync_id: str | None = None, *, confirm_removal: bool = False, idempotency_key: str | None = None
    ) -> Answer[models.CompleteAnswer]:
        """Completes the open sync. ``confirm_removal`` goes through with a removal that the guard holds back (409 ``removal_guard``)."""
        body = write_json(_complete_body(sync_id, confirm_removal))
        request = build_request("completeSync", {"Idempotency-Key": idempotency_key or new_key()}, body=body)
        return self._ask(request, models.CompleteAnswer)

    def validate_complete(self, sync_id: str | None = None) -> Answer[models.ValidatedComplete]:
        """Counts what completing would remove, and changes nothing."""
        request = build_request("completeSync", {"validate": "1"}, body=write_json(_complete_body(sync_id, False)))
        return self._ask(request, models.ValidatedComplete)

    def push_all(
        self, records: Iterable[models.Record], *, run_id: str | None = None, start_at: int = 0, batch_size: int = RECORDS_PER_BATCH
    ) -> Iterator[PushedBatch]:
        """Pushes any number of records into the open sync, in batches that keep to the limits. Goes on as :meth:`send_all` does."""
        run = run_id or new_key()
        for batch in split_rows(records, wrap_rows("records", {}), batch_size):
            if batch.number < start_at:
                continue
            try:
                answer = self._push(batch.body, f"{run}-{batch.number}")
            except PillarboxError as error:
                error.batch, error.run_id = batch.number, run
                raise
            yield PushedBatch(run, batch.number, batch.rows, answer)

    def sync_contacts(
        self,
        records: Iterable[models.Record],
        *,
        mode: models.SyncMode = "full",
        confirm_removal: bool = False,
        run_id: str | None = None,
    ) -> SyncedContacts:
        """Begins a sync, pushes all records and completes it. After an interruption, or to confirm a removal that the guard holds back,
        the same call with the same ``run_id`` and records goes on: what was done is answered again, and not done again. Keys last 7
        days. An error has the run's id as ``run_id``."""
        run = run_id or new_key()
        try:
            begun = self.begin_sync(mode, idempotency_key=f"{run}-begin")
            synced = SyncedContacts(run, begun.body["syncId"])
            if begun.is_replayed:
                self._check_no_other_sync(synced.sync_id)
            for batch in self.push_all(records, run_id=run):
                synced.add_batch(batch)
            completed = self.complete_sync(
                synced.sync_id, confirm_removal=confirm_removal, idempotency_key=f"{run}-complete"
            )
        except PillarboxError as error:
            error.run_id = run
            raise
        synced.completed = completed.body
        return synced

    def list_rejections(
        self,
        *,
        sync_id: str | None = None,
        type: models.IssueKind = "rejection",
        resolved: bool | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Answer[models.RejectionsAnswer]:
        """A page of a sync's rejected records, or with ``type="warning"`` of values that were dropped. ``resolved=False`` leaves
        those out that a later batch has mended."""
        told = None if resolved is None else str(resolved).lower()
        query = {"syncId": sync_id, "type": type, "resolved": told, "after": after, "limit": limit}
        return self._ask(build_request("listRejections", query), models.RejectionsAnswer)

    def rejections(
        self, *, sync_id: str | None = None, type: models.IssueKind = "rejection", resolved: bool | None = None
    ) -> Iterator[models.RejectionItem]:
        """Every item of :meth:`list_rejections`. All of them are of one sync, though another one may begin meanwhile."""
        after: str | None = None
        while True:
            page = (self.list_rejections(sync_id=sync_id, type=type, resolved=resolved, after=after, limit=1000)).body
            for item in page["items"]:
                yield item
            sync_id, after = page["syncId"], page["nextAfter"]
            if after is None:
                return

    def list_syncs(self, *, after: str | None = None, limit: int = 100) -> Answer[models.SyncsAnswer]:
        """A page of the integration's syncs, the newest first."""
        return self._ask(build_request("listSyncs", {"after": after, "limit": limit}), models.SyncsAnswer)

    def syncs(self) -> Iterator[models.SyncView]:
        """Every sync of the integration, the newest first."""
        after: str | None = None
        while True:
            page = (self.list_syncs(after=after, limit=1000)).body
            for sync in page["syncs"]:
                yield sync
            after = page["nextAfter"]
            if after is None:
                return

    def get_contact(self, external_id: str) -> Answer[models.ContactAnswer]:
        """One contact, with its newest issues."""
        return self._ask(build_request("getContact", {"externalId": external_id}), models.ContactAnswer)

    # How requests are made.

    def _send(self, body: bytes, key: str) -> Answer[models.SendResponse]:
        request = build_request("sendRecipients", {"Idempotency-Key": key}, body=body)
        return self._ask(request, models.SendResponse, is_looked_up=True)

    def _push(self, body: bytes, key: str) -> Answer[models.PushAnswer]:
        return self._ask(build_request("pushRecords", {"Idempotency-Key": key}, body=body), models.PushAnswer)

    def _check_no_other_sync(self, sync_id: str) -> None:
        """A push names no sync: it goes into the one that is open."""
        open_sync = (self.get_integration()).body["openSync"]
        if open_sync is not None and open_sync["id"] != sync_id:
            raise SyncOverError(f"sync {sync_id} is over, and sync {open_sync['id']} is open: nothing was pushed")

    def _ask(self, request: Request, kind: type[T], *, is_looked_up: bool = False) -> Answer[T]:
        """Sends a request until there is an answer, good or bad."""
        state = RetryState(self._retry)
        while True:
            state.attempts += 1
            attempt = self._attempt(request)
            if isinstance(attempt, Received) and 200 <= attempt.status < 300:
                return _read_answer(attempt, kind, state, request.changes_something)
            pause = state.next_pause(attempt)
            if is_looked_up and isinstance(attempt, Received) and is_left_open(attempt) and attempt.request_id:
                found = self._look_up(attempt.request_id)
                if found is not None:
                    return Answer(cast(T, found), attempt.request_id, True, None, True, state.attempts)
            if pause is not None:
                time.sleep(pause)
                continue
            raise _to_error(attempt, state, state.has_lost_an_answer and request.changes_something)

    def _attempt(self, request: Request) -> Received | AnswerLostError:
        """Sends a request once."""
        headers = {**self._headers, **request.headers}
        body = bytearray()
        # The limits of httpx are for each read alone.
        deadline = monotonic() + ANSWER_TIMEOUT
        try:
            with self._http.stream(
                request.method,
                self._base_url + request.path,
                params=request.query,
                content=request.body,
                headers=headers,
                follow_redirects=False,
            ) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > ANSWER_BYTES:
                        return AnswerLostError(f"the answer is longer than {ANSWER_BYTES} bytes")
                    if monotonic() > deadline:
                        return AnswerLostError(f"the answer was not whole within {ANSWER_TIMEOUT:.0f} seconds")
        except (httpx.TransportError, httpx.DecodingError) as error:
            return AnswerLostError(f"{type(error).__name__}: {error}")
        return Received(response.status_code, {name.lower(): value for name, value in response.headers.items()}, bytes(body))

    def _look_up(self, request_id: str) -> models.SendResponse | None:
        """The answer of a send whose deadline passed, once it is done; ``None`` when nothing is known of it."""
        request = build_request("getRequest", {"id": request_id})
        for _ in range(self._retry.look_ups):
            attempt = self._attempt(request)
            pause = self._retry.look_up_pause
            if isinstance(attempt, Received):
                if attempt.status == 200:
                    told = _read_answer(attempt, models.RequestAnswer, RetryState(self._retry), True).body
                    if told["status"] != "running":
                        return told.get("response")
                elif attempt.status == 429:
                    pause = min(attempt.retry_after(), self._retry.longest_rate_wait)
                elif not is_worth_repeating(attempt):
                    return None
            time.sleep(pause)
        return None


def _send_rest(
    campaign_id: str,
    field_types: Mapping[str, models.CustomFieldType] | None,
    require_variable_images: bool,
    send_on: str | None,
    expect_total: int | None,
) -> dict[str, Any]:
    """What a send says besides its recipients."""
    rest: dict[str, Any] = {"campaign_id": campaign_id}
    if field_types:
        rest["field_types"] = dict(field_types)
    if require_variable_images:
        rest["require_variable_images"] = True
    if send_on is not None:
        rest["send_on"] = send_on
    if expect_total is not None:
        rest["expect_total"] = expect_total
    return rest


def _complete_body(sync_id: str | None, confirm_removal: bool) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if sync_id is not None:
        body["syncId"] = sync_id
    if confirm_removal:
        body["confirmRemoval"] = True
    return body


def _read_answer(attempt: Received, kind: type[T], state: RetryState, may_be_done: bool) -> Answer[T]:
    try:
        body = cast(T, attempt.read_json())
    except PillarboxError as error:
        error.request_id, error.may_be_done = attempt.request_id, may_be_done
        raise
    return Answer(body, attempt.request_id, attempt.is_replayed, attempt.cost_cents, state.has_lost_an_answer, state.attempts)


def _to_error(attempt: Received | AnswerLostError, state: RetryState, may_be_done: bool) -> PillarboxError:
    """Refusals are told as they are; what was tried in vain as given up."""
    last = attempt if isinstance(attempt, AnswerLostError) else attempt.to_error(may_be_done)
    if isinstance(attempt, Received) and not is_worth_repeating(attempt) and last.code != "in_progress":
        return last
    return GaveUpError(state.attempts, last, may_be_done)
