"""Made by clients/generate from the API document. Changes belong there.

Texts that a list of words describes may be others: version 1 adds words and fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AddressVerification(TypedDict):
    """How far the address was verified, and what was changed of it."""

    #: What was changed, when anything was. A mailed recipient's warnings say the same.
    corrected: NotRequired[list[CorrectedPart]]

    #: How much of it was confirmed.
    level: VerificationLevel

    #: The four digits behind the ZIP code, when they are known.
    plus4: NotRequired[str]


#: A record, or what is rejected as one.
AnyRecord: TypeAlias = "Record | Any"


class BeginRequest(TypedDict):
    """How to begin a sync."""

    #: `full` unless it is given.
    mode: NotRequired[SyncMode | None]


class Campaign(TypedDict):
    """A campaign."""

    #: `api` or `list`: only the former takes recipients from this API.
    audience: str

    #: The most that it may spend, in US cents; absent without a limit.
    budget_cents: NotRequired[int]

    #: Minutes in which a mailpiece can be cancelled and does not print; absent for the installation's setting.
    cancel_minutes: NotRequired[int]

    #: What is spent of it, open charges included.
    committed_cents: int

    #: When it was made.
    created_at: str

    #: Whether its queued mailpieces are kept from printing.
    held: bool

    #: Since when; absent while they are not.
    held_at: NotRequired[str]

    #: `PA-` and six characters.
    id: str

    #: `audience` mails the recipients, `neighborhood` the homes around them.
    kind: str

    #: Whether an address from which a mailpiece came back is mailed again.
    mails_returned: bool

    #: What people call it.
    name: str

    #: Days in which an address is not mailed again; absent when the installation's setting alone holds.
    resend_protection_days: NotRequired[int]

    #: Hours without a scan of the post after which a mailpiece counts as stalled; absent for the installation's
    #: setting.
    stalled_hours: NotRequired[int]

    #: `active` or `paused`: a paused one takes no recipients.
    status: str

    #: When its settings were changed last.
    updated_at: str


class CampaignAnswer(TypedDict):
    """A campaign with its steps and figures."""

    #: The campaign.
    campaign: Campaign

    #: What happened to it.
    figures: CampaignFigures

    #: Its mailings, from step 1.
    steps: list[CampaignStep]


class CampaignCounts(TypedDict):
    """What was counted."""

    #: Mailpieces made, of later steps too.
    mailpieces: int

    #: Recipients by outcome: `mailed`, or the reason why not. One that waited on conditions counts again when it is
    #: mailed.
    outcomes: Mapping[str, int]

    #: Requests of `POST /api/v1/recipients`.
    requests: int

    #: Scans of QR codes by people.
    scans: int

    #: Mailpieces by the state that they came to, for the states that are counted, such as `printed`: each counts in
    #: every state that it has come to.
    states: Mapping[str, int]


class CampaignDay(TypedDict):
    """What happened to a campaign on a day."""

    #: What happened.
    counts: CampaignCounts

    #: In the team's time zone.
    day: str


#: What happened to a campaign in some days, in the team's time zone.
CampaignFigures = TypedDict(
    "CampaignFigures",
    {
        #: The days on which something happened, in order.
        "days": "list[CampaignDay]",
        #: The first day.
        "from": "str",
        #: The last day.
        "to": "str",
        #: All days together.
        "total": "CampaignCounts",
    },
)


class CampaignHoldAnswer(TypedDict):
    """Whether a campaign is held."""

    #: The campaign.
    campaign_id: str

    #: Since when it is held, as RFC 3339 with milliseconds in UTC; null when it is not.
    held_at: str | None


class CampaignStep(TypedDict):
    """One mailing of a campaign."""

    #: Days after step 1.
    delay_days: int

    #: Absent until one is chosen.
    design_id: NotRequired[str]

    #: `standard` or `first_class`.
    postage: str

    #: From 1.
    step: int


class CampaignsAnswer(TypedDict):
    """Campaigns of a team."""

    #: In the order of their ids.
    campaigns: list[Campaign]

    #: Whether there is more behind it.
    has_more: bool

    #: To be passed back as `cursor`: behind the last of them.
    next_cursor: str


class CancelledMailpiece(TypedDict):
    """A mailpiece that is cancelled, now or before."""

    #: The mailpiece.
    id: str

    #: What is given back for it, in US cents.
    refunded_cents: int

    #: Always `cancelled`.
    state: CancelledState


class CancelledMailpieces(TypedDict):
    """How the mailpieces stand that were to be cancelled together: the same however often it is asked for."""

    #: Mailpieces in a print run: they are mailed.
    already_printed: int

    #: Mailpieces that are cancelled, now or before.
    cancelled: int

    #: What is given back for those that are cancelled, in US cents.
    refunded_cents: int


#: What a mailpiece is after it was cancelled.
#: - cancelled: It never prints, and its price is given back.
CancelledState: TypeAlias = Literal["cancelled"] | str


class CompleteAnswer(TypedDict):
    """Answer to a complete."""

    #: Contacts that a full sync did not receive; 0 of a delta sync.
    markedRemoved: int

    #: Its mode.
    mode: SyncMode

    #: Always true.
    ok: Literal[True]

    #: Deletes that it applied.
    recordsDeleted: int

    #: Records that it refused.
    recordsRejected: int

    #: Upserts that it applied.
    recordsUpserted: int

    #: The completed sync.
    syncId: SyncId


class CompleteRequest(TypedDict):
    """Which sync to complete."""

    #: Goes through with a removal that the integration's removal guard would stop.
    confirmRemoval: NotRequired[bool | None]

    #: The open one unless it is given; when it is, it must be that one.
    syncId: NotRequired[str | None]


class ContactAnswer(TypedDict):
    """Answer to GET contacts."""

    #: When it was last changed.
    changedAt: str

    #: When it was first received.
    createdAt: str

    #: The caller's id.
    externalId: str

    #: Values by field key, as text.
    fields: Mapping[str, str]

    #: Its newest issues, the newest first.
    issues: list[ContactIssue]

    #: The last sync that is known to have received it.
    lastSyncId: SyncId

    #: Whether it was deleted, or a full sync did not receive it.
    removed: bool


class ContactIssue(TypedDict):
    """An issue of one contact."""

    #: The batch's number within the sync, from 1.
    batch: int

    #: Why.
    code: IssueCode

    #: The record's `external_id`, where it can be read.
    externalId: str | None

    #: The field at fault.
    field: str | None

    #: Its number within the sync.
    id: int

    #: Position in the batch.
    index: int

    #: A sentence for people.
    message: str

    #: Present, and true, when a later batch of the sync accepted the record, or a value for the field.
    resolved: NotRequired[Literal[True]]

    #: The sync.
    syncId: SyncId

    #: Rejection or warning.
    type: IssueKind


#: A part of the address that was changed to one that can be mailed.
CorrectedPart = TypedDict(
    "CorrectedPart",
    {
        #: The recipient's field: `address_1`, `address_2`, `city`, `state` or `zip`.
        "field": "str",
        #: As it was sent.
        "from": "str",
        #: As it is used.
        "to": "str",
    },
)


#: The type of a custom field.
CustomFieldType: TypeAlias = Literal["text", "number", "date", "yes_no"] | str


class Declaration(TypedDict):
    """The fields that an integration sends."""

    #: All of them; one that is left out keeps its column and values.
    fields: list[DeclaredField]


class DeclareAnswer(TypedDict):
    """Answer to a declaration."""

    #: Fields declared for the first time.
    added: int

    #: Keys of declared fields that this declaration does not mention.
    noLongerSent: list[str]

    #: Always true.
    ok: Literal[True]


class DeclaredField(TypedDict):
    """A field as it is declared. Two fields of one declaration have neither one key nor one semantic."""

    #: What records call it; case-sensitive.
    key: str

    #: What people call it; the key unless it is given.
    label: NotRequired[str | None]

    #: The choices of a `choice` field, at most 1000 of at most 200 characters; of no meaning for the others. Without
    #: any the field takes any text.
    options: NotRequired[list[str] | None]

    #: The contact column that it fills.
    semantic: NotRequired[Semantic | None]

    #: `text` unless it is given.
    type: NotRequired[FieldType | None]


class DryRunAnswer(TypedDict):
    """Answer to a dry run."""

    #: Records that a push would apply, deletes too.
    accepted: int

    #: Records that it would refuse.
    rejected: int

    #: Each of them.
    rejections: list[Rejection]

    #: Always true.
    validated: Literal[True]

    #: Values that it would drop.
    warnings: list[WarningGroup]


class Error(TypedDict):
    """Why a request failed."""

    #: What a program branches on.
    #: - already_printed: The mailpiece is in a print run already. It is mailed, and its price stays.
    #: - campaign_not_active: The campaign is inactive, does not take its audience from the API, or misses a design
    #: on a step.
    #: - campaign_not_found: There is no campaign with this campaign_id on your team.
    #: - design_cannot_render: A design cannot print; the message names item, surface and template.
    #: - idempotency_key_reused: This Idempotency-Key was used for another request. Nothing was mailed or charged;
    #: send each request with a key of its own.
    #: - in_progress: The request is still being worked on. Nothing was cancelled; try again in a moment.
    #: - internal_error: Something went wrong on our side. Nothing was mailed or charged; send the request again.
    #: - invalid_api_key: The API key is missing, wrong or revoked, or is not a Full access key.
    #: - invalid_cursor: This is no cursor of this list with these filters, or it is another team's. Begin again
    #: without one.
    #: - invalid_idempotency_key: The Idempotency-Key must be text of at most 200 characters.
    #: - invalid_payload: A parameter cannot be read.
    #: - invalid_state: There is no state of a mailpiece with this name.
    #: - mailpiece_not_found: There is no mailpiece with this id on your team.
    #: - payload_too_large: More than 10000 mailpieces have this reference, or the body is too large.
    #: - price_changed: The cards would cost 158 cents together, and not 79 as expect_total says. Nothing was mailed
    #: or charged.
    #: - rate_limited: Too many requests: wait a minute and send again.
    #: - request_not_found: There is no request with this id on your team that has mailed anybody.
    #: - timeout: The request was not finished in time, and may still be. Send it again: nothing is done twice.
    #: - unsupported_encoding: Content-Encoding must be gzip or zstd, once, or be left out.
    #: - validation_unavailable: Addresses cannot be checked at the moment. Nothing was mailed or charged; try again
    #: later.
    code: Literal["already_printed", "campaign_not_active", "campaign_not_found", "design_cannot_render", "idempotency_key_reused", "in_progress", "internal_error", "invalid_api_key", "invalid_cursor", "invalid_idempotency_key", "invalid_payload", "invalid_state", "mailpiece_not_found", "payload_too_large", "price_changed", "rate_limited", "request_not_found", "timeout", "unsupported_encoding", "validation_unavailable"] | str

    #: What is wrong, in a sentence for people.
    message: str


class EventCampaign(TypedDict):
    """The campaign of an event."""

    #: `PA-` and six characters.
    id: str

    #: What people call it.
    name: str


class EventLocation(TypedDict):
    """The location of an event, from the scanning device's network; what is not known is `null`."""

    #: In English.
    city: str | None

    #: Degrees north.
    latitude: float | None

    #: Degrees east.
    longitude: float | None

    #: State or province, in English.
    region: str | None


class EventMailpiece(TypedDict):
    """The mailpiece of an event."""

    #: Its id.
    id: str


class EventRecipient(TypedDict):
    """The recipient of an event; what is not known is `null`."""

    #: As printed.
    address_1: str | None

    #: As printed.
    address_2: str | None

    #: As printed.
    city: str | None

    #: As stored in the address book.
    email: str | None

    #: As sent.
    first_name: str | None

    #: As sent.
    last_name: str | None

    #: As stored in the address book.
    phone: str | None

    #: Two letters.
    state: str | None

    #: Five digits, or nine with a hyphen.
    zip: str | None


class Field(TypedDict):
    """A field as it is declared, stored and read."""

    #: What records call it; case-sensitive.
    key: str

    #: What people call it; the key unless declared otherwise.
    label: str

    #: The choices of a choice field; empty for the others.
    options: NotRequired[list[str]]

    #: The contact column that it fills.
    semantic: Semantic | None

    #: Its type.
    type: FieldType


#: How the values of a field are read.
#: - text: Any scalar.
#: - number: A JSON number, or a text that reads as one.
#: - date: A day.
#: - yes_no: A yes or a no.
#: - choice: One of the field's options; any text when it has none.
FieldType: TypeAlias = Literal["text", "number", "date", "yes_no", "choice"] | str


class HistoryEntry(TypedDict):
    """Something that happened to a mailpiece, or is expected to."""

    #: When; absent from an estimate.
    at: NotRequired[str]

    #: `scanned` by the post, `reported` by somebody or by a program of ours, or `estimated` from calendars: nobody
    #: has seen that.
    basis: MailpieceBasis

    #: Why, or the post's code and place; may be empty.
    detail: str

    #: Of an estimate: the day, in the team's time zone.
    expected_on: NotRequired[str]

    #: Who did it or says so: `api`, `console`, `operator`, `do_not_mail`, `removal`, `usps` or `system`.
    source: str

    #: What it became by it, also when it was further already.
    state: MailpieceState


class IntegrationAnswer(TypedDict):
    """Answer to GET of the API's root."""

    #: The key's integration.
    integration: IntegrationView

    #: What a client must keep to.
    limits: Limits

    #: What to call next, in a sentence.
    nextStep: str

    #: Its open sync.
    openSync: OpenSyncView | None


#: A CRM integration.
IntegrationId: TypeAlias = str


#: What an integration can do now.
#: - setup_needed: Its contacts cannot be mailed yet: the address fields are not declared, or no sync has
#: completed.
#: - ready: It can begin a sync.
#: - syncing: A sync is open.
#: - paused: The owner paused it.
#: - disconnected: The owner disconnected it.
IntegrationStatus: TypeAlias = Literal["setup_needed", "ready", "syncing", "paused", "disconnected"] | str


class IntegrationView(TypedDict):
    """An integration."""

    #: Its public id.
    id: IntegrationId

    #: Its name.
    name: str

    #: Whether the address fields are declared and one sync has completed.
    setupComplete: bool

    #: What it can do now.
    status: IntegrationStatus


#: What is wrong with a record or a value.
#: - missing_external_id: No `external_id`, or an empty one; or the record is not an object.
#: - invalid_external_id: `external_id` is too long, not a text, or cannot be stored.
#: - invalid_record: `op` is another word, or `fields` is not an object.
#: - unknown_field: A key that was not declared.
#: - invalid_type: A value that does not fit its field's type.
#: - invalid_email: A value of an e-mail field that is not a complete address.
#: - duplicate_in_batch: The same contact stood in this batch before.
#: - record_too_large: Over the limit of bytes.
IssueCode: TypeAlias = Literal["missing_external_id", "invalid_external_id", "invalid_record", "unknown_field", "invalid_type", "invalid_email", "duplicate_in_batch", "record_too_large"] | str


#: Whether the record was refused or only lost a value.
#: - rejection: The record was refused.
#: - warning: The record was accepted without a value.
IssueKind: TypeAlias = Literal["rejection", "warning"] | str


class JsonRpcError(TypedDict):
    """Why there is no result."""

    #: What is wrong.
    #: - -32700: The body is not JSON-RPC.
    #: - -32600: The method is missing, or the request is too large.
    #: - -32601: There is no such tool or method.
    #: - -32602: The parameters cannot be used.
    #: - -32603: The call could not be completed; nothing changed.
    code: int

    #: The same in a sentence.
    message: str


class JsonRpcResponse(TypedDict):
    """A response of JSON-RPC, with a result or an error."""

    error: NotRequired[JsonRpcError]

    #: The request's; null when it could not be read.
    id: str | float | None

    #: The protocol's version.
    jsonrpc: Literal["2.0"] | str

    #: What the method gives.
    result: NotRequired[Mapping[str, Any]]


class LedgerAnswer(TypedDict):
    """Bookings of a team."""

    #: In the order in which they were booked.
    bookings: list[LedgerBooking]

    #: Whether there is more behind it now.
    has_more: bool

    #: To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from.
    next_cursor: str


class LedgerBooking(TypedDict):
    """A booking."""

    #: How much, in US cents; never less than 0.
    amount_cents: int

    #: What it adds to the prepaid balance, in US cents; 0 where a payment card was used.
    balance_change_cents: int

    #: The campaign of the charge.
    campaign_id: NotRequired[str]

    #: What was paid, or is given back of; of a charge that a request made, the request's `X-Request-Id`.
    charge_id: NotRequired[str]

    #: When.
    created_at: str

    #: Its id.
    id: str

    #: Why money moved.
    kind: LedgerBookingKind

    #: What a top-up was booked with.
    reference: NotRequired[str]

    #: What is given back.
    refund_id: NotRequired[str]


#: Why money moved.
#: - top_up: It came in.
#: - charge: Mailpieces were paid for.
#: - refund: Mailpieces were cancelled, and their price given back.
LedgerBookingKind: TypeAlias = Literal["top_up", "charge", "refund"] | str


class Limits(TypedDict):
    """What a client must keep to."""

    #: Bytes of a batch.
    bytesPerBatch: int

    #: Declared fields of an integration.
    declaredFields: int

    #: Records in a batch.
    recordsPerBatch: int

    #: Hours until an open sync expires.
    syncExpiryHours: int


class Mailpiece(TypedDict):
    """A mailpiece as it is now."""

    #: Where it goes to, as printed.
    address: MailpieceAddress

    #: `PA-` and six characters.
    campaign_id: str

    #: When it was made.
    created_at: str

    #: What it prints with.
    design: MailpieceDesign

    #: Its id.
    id: str

    #: The day on which it is to mail at the latest.
    mail_by_date: str

    #: Whom it goes to, as sent; may be empty.
    name: str

    #: `standard` or `first_class`.
    postage: str

    #: What it costs, in US cents.
    price_cents: int

    #: It does not print before; absent when it need not wait.
    print_after: NotRequired[str]

    #: Format of the paper, such as `postcard_4x6`.
    product: str

    #: What the sender called its recipient when it was sent last; absent when it gave nothing.
    reference: NotRequired[str]

    #: How far it is.
    state: MailpieceState

    #: How that is known.
    state_basis: MailpieceBasis

    #: Since when; absent when nobody noted it.
    state_since: NotRequired[str]

    #: The campaign's step, from 1.
    step: int

    #: Whether it came from a test send, and never prints.
    test: bool


class MailpieceAddress(TypedDict):
    """The address of a mailpiece, as printed."""

    #: City.
    city: str

    #: The delivery line.
    line_1: str

    #: The second line; may be empty.
    line_2: str

    #: Two letters.
    state: str

    #: Five digits, or nine with a hyphen.
    zip: str


class MailpieceAnswer(TypedDict):
    """A mailpiece with all that is known of it."""

    #: The charge that paid for it; of a mailpiece that a request made, the request's `X-Request-Id`.
    charge_id: str

    #: What happened to it, the oldest first; then what is expected.
    history: list[HistoryEntry]

    #: The mailpiece.
    mailpiece: Mailpiece

    #: Once it is cancelled: what is given back.
    refund: NotRequired[MailpieceRefund]


#: How a fact is known.
#: - scanned: The post scanned the mailpiece.
#: - reported: Somebody, or a program of ours, did it or says so.
#: - estimated: Computed from calendars; nobody has seen it.
MailpieceBasis: TypeAlias = Literal["scanned", "reported", "estimated"] | str


class MailpieceChanged(TypedDict):
    """What became of a mailpiece of the team."""

    #: `scanned`: the post saw it. `reported`: somebody or a program of ours did it, or says so.
    basis: Literal["scanned", "reported"] | str

    #: Of which campaign.
    campaign: EventCampaign

    #: The post's operation code and place, or why, in words.
    detail: str | None

    #: `mailpiece.` and the state.
    event: Literal["mailpiece.printed", "mailpiece.entered", "mailpiece.in_transit", "mailpiece.delivered", "mailpiece.returned", "mailpiece.stalled", "mailpiece.cancelled"] | str

    #: The event's id, the same on every retry.
    id: str

    #: The mailpiece.
    mailpiece: EventMailpiece

    #: When it happened, by the scan or report that tells of it: UTC, ISO 8601.
    occurred_at: str

    #: Who gets it.
    recipient: EventRecipient

    #: Present, and true, only on a test event.
    test: NotRequired[Literal[True]]


class MailpieceDesign(TypedDict):
    """The design of a mailpiece."""

    #: Its id.
    id: str

    #: The version that was the newest when the mailpiece was made.
    version: int


class MailpieceRefund(TypedDict):
    """What is given back for a mailpiece."""

    #: In US cents.
    amount_cents: int

    #: When it was given back; absent while it is owed.
    settled_at: NotRequired[str]


#: A state of a mailpiece.
#: - queued: Charged; it prints when its time has come.
#: - held: Out of the queue until somebody releases it, or until what keeps it from printing is mended.
#: - cancelled: Will never print; its price is given back.
#: - printing: In a print run whose files are being made.
#: - printed: In a finished print file.
#: - entered: Handed to the post.
#: - in_transit: Seen by the post on its way.
#: - forwarded: On its way to another address than the printed one.
#: - out_for_delivery: With the carrier.
#: - delivered: Delivered.
#: - returned: Came back.
#: - stalled: In the mail, and not seen for longer than the campaign expects.
MailpieceState: TypeAlias = Literal["queued", "held", "cancelled", "printing", "printed", "entered", "in_transit", "forwarded", "out_for_delivery", "delivered", "returned", "stalled"] | str


class MailpiecesAnswer(TypedDict):
    """Mailpieces of a team."""

    #: Whether there is more behind it now.
    has_more: bool

    #: In the order that was asked for. Fewer than `limit`, or none, do not mean that there are no more.
    mailpieces: list[Mailpiece]

    #: To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from.
    next_cursor: str


#: What to do with a contact.
#: - upsert: Make it or change it.
#: - delete: Mark it removed.
Op: TypeAlias = Literal["upsert", "delete"] | str


class OpenSync(TypedDict):
    """The open sync, as errors and answers name it."""

    #: When it expires.
    expiresAt: str

    #: Its mode.
    mode: SyncMode

    #: Its id.
    syncId: SyncId


class OpenSyncView(TypedDict):
    """The open sync, beside an integration."""

    #: Batches that it received.
    batchesReceived: int

    #: When it expires.
    expiresAt: str

    #: Its id.
    id: SyncId

    #: Its mode.
    mode: SyncMode


#: The postage of a campaign step.
#: - standard: USPS Marketing Mail.
#: - first_class: USPS First-Class Mail.
Postage: TypeAlias = Literal["standard", "first_class"] | str


class PushAnswer(TypedDict):
    """Answer to a push."""

    #: Upserts that were applied.
    accepted: int

    #: Deletes that were applied.
    deleted: int

    #: Records that were refused.
    rejected: int

    #: Each of them.
    rejections: list[Rejection]

    #: Values dropped from accepted records.
    warnings: list[WarningGroup]


class PushError(TypedDict):
    """Why a request failed."""

    #: What a program branches on.
    #: - contact_not_found: There is no contact with this externalId on this integration.
    #: - field_locked: The owner has set another type for these columns: lifetime_value. Details: `fields`.
    #: - idempotency_key_reused: This Idempotency-Key was used for a different request. Use a new key.
    #: - in_progress: The first attempt with this Idempotency-Key is still running. Retry with the same key later.
    #: - integration_unavailable: The integration is paused or disconnected. Its owner can resume it in the settings.
    #: - internal_error: Something went wrong on our side. Nothing was changed; send the request again with the same
    #: key.
    #: - invalid_cursor: after must be the nextAfter of an earlier page.
    #: - invalid_idempotency_key: An Idempotency-Key has 1 to 200 characters.
    #: - invalid_json: The body is not JSON.
    #: - invalid_key: The API key is missing, wrong or revoked, or is neither a Full access nor a Formulas only key.
    #: - invalid_limit: limit must be a whole number from 1 to 1000.
    #: - invalid_request: externalId names the contact and is needed.
    #: - invalid_sync_id: syncId must be the id of a sync.
    #: - invalid_type: type must be rejection or warning.
    #: - missing_idempotency_key: This request needs an Idempotency-Key header: a new value for each request, the
    #: same on its retry.
    #: - no_open_sync: No sync is open. Begin one first.
    #: - origin_not_allowed: Web pages of this origin may not call this server.
    #: - payload_too_large: The body is over the limit of 4456448 bytes. Details: `limit`.
    #: - rate_limited: Too many requests: wait a minute and send again.
    #: - removal_guard: Completing would remove 0 contacts that this sync did not receive, more than the
    #: integration's removal guard allows. Nothing was removed and the sync is still open: push what is missing, or
    #: send confirmRemoval: true to remove them. Details: `count`, `limit`, `share`.
    #: - sync_in_progress: A full sync is open already. Completing it removes every contact that it has not received:
    #: push all of them into it before you do. Left alone it expires at 1970-01-01 00:00 UTC and removes nothing.
    #: Details: `expiresAt`, `mode`, `syncId`.
    #: - sync_not_found: There is no such sync on this integration.
    #: - timeout: The request was not finished in time. Retry it with the same Idempotency-Key: it is done once.
    #: - too_many_fields: An integration declares at most 1000 fields; with these it would have 1001. Details:
    #: `limit`, `received`.
    #: - too_many_records: A batch takes at most 1000 records; this one has 1001. Details: `limit`, `received`.
    #: - unsupported_encoding: Content-Encoding must be gzip or zstd, once, or be left out.
    #: - unsupported_protocol_version: MCP-Protocol-Version must be one of 2025-11-25, 2025-06-18, 2025-03-26,
    #: 2024-11-05.
    #: - use_post: This is an MCP server: send JSON-RPC 2.0 with POST.
    code: Literal["contact_not_found", "field_locked", "idempotency_key_reused", "in_progress", "integration_unavailable", "internal_error", "invalid_cursor", "invalid_idempotency_key", "invalid_json", "invalid_key", "invalid_limit", "invalid_request", "invalid_sync_id", "invalid_type", "missing_idempotency_key", "no_open_sync", "origin_not_allowed", "payload_too_large", "rate_limited", "removal_guard", "sync_in_progress", "sync_not_found", "timeout", "too_many_fields", "too_many_records", "unsupported_encoding", "unsupported_protocol_version", "use_post"] | str

    details: NotRequired[PushErrorDetails]

    #: What is wrong, in a sentence for people.
    message: str


class PushErrorDetails(TypedDict):
    """What some codes come with."""

    count: NotRequired[int]

    expiresAt: NotRequired[str]

    fields: NotRequired[list[str]]

    limit: NotRequired[float]

    mode: NotRequired[str]

    received: NotRequired[int]

    share: NotRequired[float]

    syncId: NotRequired[str]


class PushFailure(TypedDict):
    """A failure of the push API and of the MCP servers."""

    error: PushError


class PushRequest(TypedDict):
    """Records for the open sync. Each is judged by itself: a bad one is reported in the answer and stops no other.
    At most 4456448 bytes."""

    #: At most 65536 bytes each.
    records: list[AnyRecord]


class QrScanned(TypedDict):
    """A recorded scan of a QR code on the team's mail."""

    #: Present, and true, when a program that looks ahead made the scan, such as a link preview.
    automated: NotRequired[Literal[True]]

    #: Of which campaign.
    campaign: EventCampaign

    #: Where the QR code sent the person.
    destination: str

    #: Always `qr.scanned`.
    event: Literal["qr.scanned"] | str

    #: The event's id, the same on every retry; that of a test event begins with `evt_test_`.
    id: str

    #: Roughly where.
    location: EventLocation

    #: Who got the card.
    recipient: EventRecipient

    #: UTC, ISO 8601.
    scanned_at: str

    #: Present, and true, only on a test event.
    test: NotRequired[Literal[True]]


#: Why a recipient was not mailed.
#: - invalid_address: The address could not be verified, or a required part is missing.
#: - removed_by_sender: The sender removed the recipient from the campaign.
#: - do_not_mail: The address is on the campaign's do-not-mail list.
#: - duplicate_recent: The address was already mailed for this campaign within the window.
#: - filtered_location: Outside the area drawn on the campaign map.
#: - filtered_conditions: Waiting on the campaign's filter conditions; the one reason that is not final.
#: - unsupported_characters: The font cannot print some characters of a text box.
#: - text_overflow: A text does not fit its box.
#: - variable_image_missing: No usable variable image, and the request asked for one.
#: - budget_exceeded: The campaign's budget is spent.
#: - payment_failed: The payment was declined; nothing of the request was mailed.
#: - no_homes_found: No homes inside the radius (Neighborhood Mail).
#: - request_capacity_reached: The request's capacity is reached; send again in another request.
Reason: TypeAlias = Literal["invalid_address", "removed_by_sender", "do_not_mail", "duplicate_recent", "filtered_location", "filtered_conditions", "unsupported_characters", "text_overflow", "variable_image_missing", "budget_exceeded", "payment_failed", "no_homes_found", "request_capacity_reached"] | str


class Recipient(TypedDict):
    """Somebody to mail. Names match whatever their case; each stands once. A field whose name is longer than 200
    characters is left out and counted in `longNamesIgnored`."""

    #: Needed for mailing, as are `city`, `state` and `zip`: without it the recipient is `invalid_address`.
    address_1: NotRequired[Scalar | None]

    #: Counts for deliverability; no part of the result's address.
    address_2: NotRequired[Scalar | None]

    #: Like `M/D` or `YYYY-MM-DD`.
    birthday: NotRequired[Scalar | None]

    #: City.
    city: NotRequired[Scalar | None]

    #: E-mail address.
    email: NotRequired[Scalar | None]

    #: First name.
    first_name: NotRequired[Scalar | None]

    #: Last name.
    last_name: NotRequired[Scalar | None]

    #: Organization.
    organization: NotRequired[Scalar | None]

    #: Telephone number.
    phone: NotRequired[Scalar | None]

    #: The caller's own id, echoed in the result.
    reference: NotRequired[Scalar | None]

    #: Two letters.
    state: NotRequired[Scalar | None]

    #: Five digits, or nine.
    zip: NotRequired[Scalar | None]


class Record(TypedDict):
    """A contact to upsert or delete."""

    #: The caller's stable id of the contact.
    external_id: str

    #: Values by declared key. An absent field keeps its value; null is stored as blank.
    fields: NotRequired[Mapping[str, Scalar] | None]

    #: `upsert` unless it is given.
    op: NotRequired[Op | None]


class ReferenceToCancel(TypedDict):
    """The body of POST /api/v1/mailpieces/cancel."""

    #: The campaign.
    campaign_id: str

    #: The `reference` that the recipients were sent with, exactly.
    reference: str


class Rejection(TypedDict):
    """A refused record."""

    #: Why.
    code: IssueCode

    #: The record's `external_id`, where it can be read.
    externalId: str | None

    #: The field at fault.
    field: NotRequired[str]

    #: Position in the batch.
    index: int

    #: A sentence for people.
    message: str


class RejectionItem(TypedDict):
    """A stored issue."""

    #: The batch's number within the sync, from 1.
    batch: int

    #: Why.
    code: IssueCode

    #: The record's `external_id`, where it can be read.
    externalId: str | None

    #: The field at fault.
    field: str | None

    #: Its number within the sync.
    id: int

    #: Position in the batch.
    index: int

    #: A sentence for people.
    message: str

    #: Present, and true, when a later batch of the sync accepted the record, or a value for the field.
    resolved: NotRequired[Literal[True]]


class RejectionsAnswer(TypedDict):
    """Answer to GET sync/rejections."""

    #: In the order in which they were stored.
    items: list[RejectionItem]

    #: The `after` of the next page; null on the last one.
    nextAfter: str | None

    #: The sync.
    syncId: SyncId

    #: Rejections or warnings.
    type: IssueKind


class RequestAnswer(TypedDict):
    """What became of a request."""

    #: The request's `X-Request-Id`.
    request_id: RequestId

    #: Once it is done: what it was answered, byte for byte.
    response: NotRequired[SendResponse]

    #: Where it stands.
    status: RequestStatus


#: One HTTP request, from the gateway to the last row that it caused.
RequestId: TypeAlias = str


#: Where a request stands.
#: - running: A worker has it: ask again.
#: - done: It is finished, and `response` is its answer.
#: - unknown: Nothing is known of it: it has not begun, it failed as a whole, it was answered with the stored
#: response of an earlier request, it is too long ago, or the team never made it.
RequestStatus: TypeAlias = Literal["running", "done", "unknown"] | str


class Result(TypedDict):
    """What became of one recipient."""

    #: One line: verified when that is possible, else as sent.
    address: str

    #: A sentence for people; programs branch on `status` and `reason`.
    detail: str

    #: Neighborhood Mail: homes inside the radius.
    homesFound: NotRequired[int]

    #: Neighborhood Mail: homes that are mailed.
    homesMailed: NotRequired[int]

    #: The day by which it mails.
    mail_by_date: NotRequired[str]

    #: How the card mails.
    postage: NotRequired[Postage]

    #: The first step's product.
    product_type: NotRequired[str]

    #: Why not, when it was not.
    reason: NotRequired[Reason]

    #: The caller's own id, when it was sent.
    reference: str | None

    #: Present, and true, when the design's fallback return address prints.
    return_address_fallback: NotRequired[Literal[True]]

    #: Why it does.
    return_address_reason: NotRequired[ReturnAddressReason]

    #: Whether a card was queued.
    status: Status

    #: How far the address was verified; absent when it could not be. An addition to the contract.
    verification: NotRequired[AddressVerification]

    #: Fallbacks that the card prints.
    warnings: NotRequired[list[Warning]]


#: Why the design's fallback return address prints.
#: - missing_token_value: A field that the return address uses is empty.
#: - unverified_address: The return address could not be verified.
#: - verification_limit_reached: The request, or the team's day, has no verification of return addresses left.
ReturnAddressReason: TypeAlias = Literal["missing_token_value", "unverified_address", "verification_limit_reached"] | str


#: A value as text. A number or a boolean counts as its JSON text; null is as absent.
Scalar: TypeAlias = str | float | bool | None


class ScansAnswer(TypedDict):
    """Answer to GET scans."""

    #: The oldest first.
    events: list[QrScanned]

    #: To be passed back as `after`.
    nextAfter: str


class SchemaAnswer(TypedDict):
    """Answer to GET schema."""

    #: In the order of their first declaration.
    fields: list[Field]


#: The contact column that a field fills.
Semantic: TypeAlias = Literal["first_name", "last_name", "address_1", "address_2", "city", "state", "zip", "email", "phone", "organization"] | str


class SendPrice(TypedDict):
    """What a send would cost, and what it would leave. Amounts are whole US cents."""

    #: What the send would leave of the team's prepaid balance; null for a team that pays by card.
    balanceAfterCents: int | None

    #: What the send would leave of the campaign's budget; null for a campaign without one.
    budgetAfterCents: int | None

    #: Of one card: of each recipient that would be mailed, or of each of its homes on a Neighborhood Mail campaign.
    perCardCents: int

    #: Of all cards that would be mailed if the payment succeeds. A send with this as its `expect_total` is refused
    #: when it would cost another sum.
    totalCents: int


class SendRequest(TypedDict):
    """Recipients for one campaign. A name that is not listed here is ignored. At most 4456448 bytes."""

    #: The Full access key, only for senders that cannot set headers.
    api_key: NotRequired[str | None]

    #: `PA-` and six characters; case-sensitive.
    campaign_id: str

    #: What the request's cards must cost together, in whole US cents: `price.totalCents` of a dry run. When they
    #: would cost another sum, the request is refused with 409 `price_changed`.
    expect_total: NotRequired[int | None]

    #: Types of the custom fields that this request creates, by name; one without an entry is a text.
    field_types: NotRequired[Mapping[str, CustomFieldType] | None]

    #: Whom to mail. On a Neighborhood Mail campaign these are centers, 250 at the most.
    recipients: list[Recipient]

    #: When true, a recipient without a usable variable image is not mailed instead of printing the default image.
    require_variable_images: NotRequired[bool | None]

    #: The day on which the cards are to begin, by the team's calendar: from today to 180 days ahead. They do not
    #: print before it, and `mail_by_date` is counted from it. Charged at once.
    send_on: NotRequired[str | None]


class SendResponse(TypedDict):
    """What became of a request that was carried out."""

    #: One result for each recipient, in the order sent.
    results: list[Result]

    #: Present, and true, when all results would exceed 4 MB (4194304 bytes): then `results` lists only recipients
    #: that were not mailed or were mailed with a fallback, as many as fit, in the order sent.
    results_truncated: NotRequired[Literal[True]]

    #: Counts every recipient, whatever `results` lists.
    summary: Summary


class SendValidation(TypedDict):
    """What would become of a request: the answer to a dry run."""

    #: What the cards would cost, and what that would leave.
    price: SendPrice

    #: One result for each recipient, in the order sent.
    results: list[Result]

    #: As in a send's response.
    results_truncated: NotRequired[Literal[True]]

    #: Counts every recipient, whatever `results` lists.
    summary: ValidationSummary

    #: Always true.
    validated: Literal[True]


#: Whether a card was queued.
#: - mailed: The card is queued and paid.
#: - not_mailed: No card; `reason` says why.
#: - would_mail: In a dry run only.
Status: TypeAlias = Literal["mailed", "not_mailed", "would_mail"] | str


class Summary(TypedDict):
    """The `summary` of a response; it counts every recipient, also in a truncated one."""

    #: Birthdays that could not be read whole; stored as sent.
    birthdaysNotRead: NotRequired[int]

    #: Values sent for formula or AI columns.
    computedFieldsIgnored: NotRequired[int]

    #: Fields, and entries of `field_types`, that were left out because their name is longer than 200 characters.
    longNamesIgnored: NotRequired[int]

    #: Of these, mailed.
    mailed: int

    #: Of these, not mailed.
    notMailed: int

    #: Recipients in the request.
    received: int

    #: Custom values that did not fit their column's type; stored as sent.
    unparseableTypedValues: NotRequired[int]


class SyncAnswer(TypedDict):
    """Answer to GET sync."""

    #: The latest sync.
    sync: SyncView | None


#: A sync of an integration; public.
SyncId: TypeAlias = str


#: What a sync does with contacts that it did not receive.
#: - full: They are removed when it completes.
#: - delta: They stay.
SyncMode: TypeAlias = Literal["full", "delta"] | str


#: Where a sync stands. `open` moves to one of the other two, for good.
#: - open: It takes batches.
#: - completed: The client completed it.
#: - expired: Its time passed before the client completed it; it removed nothing.
SyncStatus: TypeAlias = Literal["open", "completed", "expired"] | str


class SyncView(TypedDict):
    """A sync."""

    #: Batches that it received.
    batchesReceived: int

    #: When it was begun.
    begunAt: str

    #: When it expires, or would have.
    expiresAt: str

    #: Its id.
    id: SyncId

    #: Contacts that it removed when it completed.
    markedRemoved: int

    #: Its mode.
    mode: SyncMode

    #: Deletes that it applied.
    recordsDeleted: int

    #: Records that it refused.
    recordsRejected: int

    #: Upserts that it applied.
    recordsUpserted: int

    #: Where it stands.
    status: SyncStatus


class SyncsAnswer(TypedDict):
    """Answer to GET syncs."""

    #: The `after` of the next page; null on the last one.
    nextAfter: SyncId | None

    #: The newest first.
    syncs: list[SyncView]


class ValidatedComplete(TypedDict):
    """Answer to a complete with `validate=1`: what completing now would do."""

    #: Its mode.
    mode: SyncMode

    #: Deletes that it applied so far.
    recordsDeleted: int

    #: Records that it refused so far.
    recordsRejected: int

    #: Upserts that it applied so far.
    recordsUpserted: int

    #: Their share of the integration's contacts, 0 to 1.
    share: float

    #: The open sync.
    syncId: SyncId

    #: Always true.
    validated: Literal[True]

    #: Contacts that would be removed.
    wouldRemove: int


class ValidationSummary(TypedDict):
    """The `summary` of a dry run; it counts every recipient, also in a truncated one."""

    #: Birthdays that cannot be read whole.
    birthdaysNotRead: NotRequired[int]

    #: Values sent for formula or AI columns.
    computedFieldsIgnored: NotRequired[int]

    #: What the cards would cost together, in whole US cents, also when the payment would fail.
    costCents: int

    #: Fields, and entries of `field_types`, that are left out because their name is longer than 200 characters.
    longNamesIgnored: NotRequired[int]

    #: Of these, those that would not.
    notMailed: int

    #: Recipients in the request.
    received: int

    #: Custom values that do not fit their column's type.
    unparseableTypedValues: NotRequired[int]

    #: Of these, those that would be mailed.
    wouldMail: int


#: How much of an address was confirmed.
#: - delivery_point: This house exists, and this unit where the house's units are known.
#: - street: The street exists in the ZIP code; the house or its unit is not known.
#: - zip: The address can be read, and city, state and ZIP code agree.
#: - override: Nothing: the operator vouches for the address.
VerificationLevel: TypeAlias = Literal["delivery_point", "street", "zip", "override"] | str


class Warning(TypedDict):
    """A fallback that a card mails with, a value that was cut or could not be read, or an address that was
    corrected."""

    #: What fell back.
    code: Literal["variable_image_fallback", "variable_image_blank", "qr_fallback_link", "text_overlap", "text_unmeasurable", "text_curve_too_long", "value_cut", "address_corrected", "birthday_not_read"] | str

    #: A sentence for a person.
    detail: str

    #: The design's field or element it is about.
    field: str


class WarningGroup(TypedDict):
    """The dropped values of one field and code."""

    #: Why.
    code: IssueCode

    #: Accepted records that lost a value of this field.
    count: int

    #: `external_id` of the first record.
    externalId: str

    #: The first of them, at most 5, in the order of the batch.
    externalIds: list[str]

    #: The field.
    field: str

    #: Position of the first record.
    index: int

    #: A sentence for people.
    message: str
