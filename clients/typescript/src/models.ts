// Made by clients/generate from the API document. Changes belong there.

/** Version 1 adds words: whoever branches on one expects others. */
export type Unknown = string & {};

/** How far the address was verified, and what was changed of it. */
export interface AddressVerification {
  /** What was changed, when anything was. A mailed recipient's warnings say the same. */
  readonly corrected?: readonly (CorrectedPart)[];
  /** How much of it was confirmed. */
  readonly level: VerificationLevel;
  /** The four digits behind the ZIP code, when they are known. */
  readonly plus4?: string;
}

/** A record, or what is rejected as one. */
export type AnyRecord = Record | unknown;

/** How to begin a sync. */
export interface BeginRequest {
  /** `full` unless it is given. */
  readonly mode?: SyncMode | null;
}

/** A campaign. */
export interface Campaign {
  /** `api` or `list`: only the former takes recipients from this API. */
  readonly audience: string;
  /** The most that it may spend, in US cents; absent without a limit. */
  readonly budget_cents?: number;
  /** Minutes in which a mailpiece can be cancelled and does not print; absent for the installation's setting. */
  readonly cancel_minutes?: number;
  /** What is spent of it, open charges included. */
  readonly committed_cents: number;
  /** When it was made. */
  readonly created_at: string;
  /** Whether its queued mailpieces are kept from printing. */
  readonly held: boolean;
  /** Since when; absent while they are not. */
  readonly held_at?: string;
  /** `PA-` and six characters. */
  readonly id: string;
  /** `audience` mails the recipients, `neighborhood` the homes around them. */
  readonly kind: string;
  /** Whether an address from which a mailpiece came back is mailed again. */
  readonly mails_returned: boolean;
  /** What people call it. */
  readonly name: string;
  /** Days in which an address is not mailed again; absent when the installation's setting alone holds. */
  readonly resend_protection_days?: number;
  /**
   * Hours without a scan of the post after which a mailpiece counts as stalled; absent for the installation's
   * setting.
   */
  readonly stalled_hours?: number;
  /** `active` or `paused`: a paused one takes no recipients. */
  readonly status: string;
  /** When its settings were changed last. */
  readonly updated_at: string;
}

/** A campaign with its steps and figures. */
export interface CampaignAnswer {
  /** The campaign. */
  readonly campaign: Campaign;
  /** What happened to it. */
  readonly figures: CampaignFigures;
  /** Its mailings, from step 1. */
  readonly steps: readonly (CampaignStep)[];
}

/** What was counted. */
export interface CampaignCounts {
  /** Mailpieces made, of later steps too. */
  readonly mailpieces: number;
  /**
   * Recipients by outcome: `mailed`, or the reason why not. One that waited on conditions counts again when it is
   * mailed.
   */
  readonly outcomes: { readonly [name: string]: number };
  /** Requests of `POST /api/v1/recipients`. */
  readonly requests: number;
  /** Scans of QR codes by people. */
  readonly scans: number;
  /**
   * Mailpieces by the state that they came to, for the states that are counted, such as `printed`: each counts in
   * every state that it has come to.
   */
  readonly states: { readonly [name: string]: number };
}

/** What happened to a campaign on a day. */
export interface CampaignDay {
  /** What happened. */
  readonly counts: CampaignCounts;
  /** In the team's time zone. */
  readonly day: string;
}

/** What happened to a campaign in some days, in the team's time zone. */
export interface CampaignFigures {
  /** The days on which something happened, in order. */
  readonly days: readonly (CampaignDay)[];
  /** The first day. */
  readonly from: string;
  /** The last day. */
  readonly to: string;
  /** All days together. */
  readonly total: CampaignCounts;
}

/** Whether a campaign is held. */
export interface CampaignHoldAnswer {
  /** The campaign. */
  readonly campaign_id: string;
  /** Since when it is held, as RFC 3339 with milliseconds in UTC; null when it is not. */
  readonly held_at: string | null;
}

/** One mailing of a campaign. */
export interface CampaignStep {
  /** Days after step 1. */
  readonly delay_days: number;
  /** Absent until one is chosen. */
  readonly design_id?: string;
  /** `standard` or `first_class`. */
  readonly postage: string;
  /** From 1. */
  readonly step: number;
}

/** Campaigns of a team. */
export interface CampaignsAnswer {
  /** In the order of their ids. */
  readonly campaigns: readonly (Campaign)[];
  /** Whether there is more behind it. */
  readonly has_more: boolean;
  /** To be passed back as `cursor`: behind the last of them. */
  readonly next_cursor: string;
}

/** A mailpiece that is cancelled, now or before. */
export interface CancelledMailpiece {
  /** The mailpiece. */
  readonly id: string;
  /** What is given back for it, in US cents. */
  readonly refunded_cents: number;
  /** Always `cancelled`. */
  readonly state: CancelledState;
}

/** How the mailpieces stand that were to be cancelled together: the same however often it is asked for. */
export interface CancelledMailpieces {
  /** Mailpieces in a print run: they are mailed. */
  readonly already_printed: number;
  /** Mailpieces that are cancelled, now or before. */
  readonly cancelled: number;
  /** What is given back for those that are cancelled, in US cents. */
  readonly refunded_cents: number;
}

/**
 * What a mailpiece is after it was cancelled.
 * - cancelled: It never prints, and its price is given back.
 */
export type CancelledState = "cancelled" | Unknown;

/** Answer to a complete. */
export interface CompleteAnswer {
  /** Contacts that a full sync did not receive; 0 of a delta sync. */
  readonly markedRemoved: number;
  /** Its mode. */
  readonly mode: SyncMode;
  /** Always true. */
  readonly ok: true;
  /** Deletes that it applied. */
  readonly recordsDeleted: number;
  /** Records that it refused. */
  readonly recordsRejected: number;
  /** Upserts that it applied. */
  readonly recordsUpserted: number;
  /** The completed sync. */
  readonly syncId: SyncId;
}

/** Which sync to complete. */
export interface CompleteRequest {
  /** Goes through with a removal that the integration's removal guard would stop. */
  readonly confirmRemoval?: boolean | null;
  /** The open one unless it is given; when it is, it must be that one. */
  readonly syncId?: string | null;
}

/** Answer to GET contacts. */
export interface ContactAnswer {
  /** When it was last changed. */
  readonly changedAt: string;
  /** When it was first received. */
  readonly createdAt: string;
  /** The caller's id. */
  readonly externalId: string;
  /** Values by field key, as text. */
  readonly fields: { readonly [name: string]: string };
  /** Its newest issues, the newest first. */
  readonly issues: readonly (ContactIssue)[];
  /** The last sync that is known to have received it. */
  readonly lastSyncId: SyncId;
  /** Whether it was deleted, or a full sync did not receive it. */
  readonly removed: boolean;
}

/** An issue of one contact. */
export interface ContactIssue {
  /** The batch's number within the sync, from 1. */
  readonly batch: number;
  /** Why. */
  readonly code: IssueCode;
  /** The record's `external_id`, where it can be read. */
  readonly externalId: string | null;
  /** The field at fault. */
  readonly field: string | null;
  /** Its number within the sync. */
  readonly id: number;
  /** Position in the batch. */
  readonly index: number;
  /** A sentence for people. */
  readonly message: string;
  /** Present, and true, when a later batch of the sync accepted the record, or a value for the field. */
  readonly resolved?: true;
  /** The sync. */
  readonly syncId: SyncId;
  /** Rejection or warning. */
  readonly type: IssueKind;
}

/** A part of the address that was changed to one that can be mailed. */
export interface CorrectedPart {
  /** The recipient's field: `address_1`, `address_2`, `city`, `state` or `zip`. */
  readonly field: string;
  /** As it was sent. */
  readonly from: string;
  /** As it is used. */
  readonly to: string;
}

/** The type of a custom field. */
export type CustomFieldType = "text" | "number" | "date" | "yes_no" | Unknown;

/** The fields that an integration sends. */
export interface Declaration {
  /** All of them; one that is left out keeps its column and values. */
  readonly fields: readonly (DeclaredField)[];
}

/** Answer to a declaration. */
export interface DeclareAnswer {
  /** Fields declared for the first time. */
  readonly added: number;
  /** Keys of declared fields that this declaration does not mention. */
  readonly noLongerSent: readonly (string)[];
  /** Always true. */
  readonly ok: true;
}

/** A field as it is declared. Two fields of one declaration have neither one key nor one semantic. */
export interface DeclaredField {
  /** What records call it; case-sensitive. */
  readonly key: string;
  /** What people call it; the key unless it is given. */
  readonly label?: string | null;
  /**
   * The choices of a `choice` field, at most 1000 of at most 200 characters; of no meaning for the others. Without
   * any the field takes any text.
   */
  readonly options?: readonly (string)[] | null;
  /** The contact column that it fills. */
  readonly semantic?: Semantic | null;
  /** `text` unless it is given. */
  readonly type?: FieldType | null;
}

/** Answer to a dry run. */
export interface DryRunAnswer {
  /** Records that a push would apply, deletes too. */
  readonly accepted: number;
  /** Records that it would refuse. */
  readonly rejected: number;
  /** Each of them. */
  readonly rejections: readonly (Rejection)[];
  /** Always true. */
  readonly validated: true;
  /** Values that it would drop. */
  readonly warnings: readonly (WarningGroup)[];
}

/** Why a request failed. */
export interface Error {
  /**
   * What a program branches on.
   * - already_printed: The mailpiece is in a print run already. It is mailed, and its price stays.
   * - campaign_not_active: The campaign is inactive, does not take its audience from the API, or misses a design
   * on a step.
   * - campaign_not_found: There is no campaign with this campaign_id on your team.
   * - design_cannot_render: A design cannot print; the message names item, surface and template.
   * - idempotency_key_reused: This Idempotency-Key was used for another request. Nothing was mailed or charged;
   * send each request with a key of its own.
   * - in_progress: The request is still being worked on. Nothing was cancelled; try again in a moment.
   * - internal_error: Something went wrong on our side. Nothing was mailed or charged; send the request again.
   * - invalid_api_key: The API key is missing, wrong or revoked, or is not a Full access key.
   * - invalid_cursor: This is no cursor of this list with these filters, or it is another team's. Begin again
   * without one.
   * - invalid_idempotency_key: The Idempotency-Key must be text of at most 200 characters.
   * - invalid_payload: A parameter cannot be read.
   * - invalid_state: There is no state of a mailpiece with this name.
   * - mailpiece_not_found: There is no mailpiece with this id on your team.
   * - payload_too_large: More than 10000 mailpieces have this reference, or the body is too large.
   * - price_changed: The cards would cost 158 cents together, and not 79 as expect_total says. Nothing was mailed
   * or charged.
   * - rate_limited: Too many requests: wait a minute and send again.
   * - request_not_found: There is no request with this id on your team that has mailed anybody.
   * - timeout: The request was not finished in time, and may still be. Send it again: nothing is done twice.
   * - unsupported_encoding: Content-Encoding must be gzip or zstd, once, or be left out.
   * - validation_unavailable: Addresses cannot be checked at the moment. Nothing was mailed or charged; try again
   * later.
   */
  readonly code: "already_printed" | "campaign_not_active" | "campaign_not_found" | "design_cannot_render" | "idempotency_key_reused" | "in_progress" | "internal_error" | "invalid_api_key" | "invalid_cursor" | "invalid_idempotency_key" | "invalid_payload" | "invalid_state" | "mailpiece_not_found" | "payload_too_large" | "price_changed" | "rate_limited" | "request_not_found" | "timeout" | "unsupported_encoding" | "validation_unavailable" | Unknown;
  /** What is wrong, in a sentence for people. */
  readonly message: string;
}

/** The campaign of an event. */
export interface EventCampaign {
  /** `PA-` and six characters. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
}

/** The location of an event, from the scanning device's network; what is not known is `null`. */
export interface EventLocation {
  /** In English. */
  readonly city: string | null;
  /** Degrees north. */
  readonly latitude: number | null;
  /** Degrees east. */
  readonly longitude: number | null;
  /** State or province, in English. */
  readonly region: string | null;
}

/** The mailpiece of an event. */
export interface EventMailpiece {
  /** Its id. */
  readonly id: string;
}

/** The recipient of an event; what is not known is `null`. */
export interface EventRecipient {
  /** As printed. */
  readonly address_1: string | null;
  /** As printed. */
  readonly address_2: string | null;
  /** As printed. */
  readonly city: string | null;
  /** As stored in the address book. */
  readonly email: string | null;
  /** As sent. */
  readonly first_name: string | null;
  /** As sent. */
  readonly last_name: string | null;
  /** As stored in the address book. */
  readonly phone: string | null;
  /** Two letters. */
  readonly state: string | null;
  /** Five digits, or nine with a hyphen. */
  readonly zip: string | null;
}

/** A field as it is declared, stored and read. */
export interface Field {
  /** What records call it; case-sensitive. */
  readonly key: string;
  /** What people call it; the key unless declared otherwise. */
  readonly label: string;
  /** The choices of a choice field; empty for the others. */
  readonly options?: readonly (string)[];
  /** The contact column that it fills. */
  readonly semantic: Semantic | null;
  /** Its type. */
  readonly type: FieldType;
}

/**
 * How the values of a field are read.
 * - text: Any scalar.
 * - number: A JSON number, or a text that reads as one.
 * - date: A day.
 * - yes_no: A yes or a no.
 * - choice: One of the field's options; any text when it has none.
 */
export type FieldType = "text" | "number" | "date" | "yes_no" | "choice" | Unknown;

/** Something that happened to a mailpiece, or is expected to. */
export interface HistoryEntry {
  /** When; absent from an estimate. */
  readonly at?: string;
  /**
   * `scanned` by the post, `reported` by somebody or by a program of ours, or `estimated` from calendars: nobody
   * has seen that.
   */
  readonly basis: MailpieceBasis;
  /** Why, or the post's code and place; may be empty. */
  readonly detail: string;
  /** Of an estimate: the day, in the team's time zone. */
  readonly expected_on?: string;
  /** Who did it or says so: `api`, `console`, `operator`, `do_not_mail`, `removal`, `usps` or `system`. */
  readonly source: string;
  /** What it became by it, also when it was further already. */
  readonly state: MailpieceState;
}

/** Answer to GET of the API's root. */
export interface IntegrationAnswer {
  /** The key's integration. */
  readonly integration: IntegrationView;
  /** What a client must keep to. */
  readonly limits: Limits;
  /** What to call next, in a sentence. */
  readonly nextStep: string;
  /** Its open sync. */
  readonly openSync: OpenSyncView | null;
}

/** A CRM integration. */
export type IntegrationId = string;

/**
 * What an integration can do now.
 * - setup_needed: Its contacts cannot be mailed yet: the address fields are not declared, or no sync has
 * completed.
 * - ready: It can begin a sync.
 * - syncing: A sync is open.
 * - paused: The owner paused it.
 * - disconnected: The owner disconnected it.
 */
export type IntegrationStatus = "setup_needed" | "ready" | "syncing" | "paused" | "disconnected" | Unknown;

/** An integration. */
export interface IntegrationView {
  /** Its public id. */
  readonly id: IntegrationId;
  /** Its name. */
  readonly name: string;
  /** Whether the address fields are declared and one sync has completed. */
  readonly setupComplete: boolean;
  /** What it can do now. */
  readonly status: IntegrationStatus;
}

/**
 * What is wrong with a record or a value.
 * - missing_external_id: No `external_id`, or an empty one; or the record is not an object.
 * - invalid_external_id: `external_id` is too long, not a text, or cannot be stored.
 * - invalid_record: `op` is another word, or `fields` is not an object.
 * - unknown_field: A key that was not declared.
 * - invalid_type: A value that does not fit its field's type.
 * - invalid_email: A value of an e-mail field that is not a complete address.
 * - duplicate_in_batch: The same contact stood in this batch before.
 * - record_too_large: Over the limit of bytes.
 */
export type IssueCode = "missing_external_id" | "invalid_external_id" | "invalid_record" | "unknown_field" | "invalid_type" | "invalid_email" | "duplicate_in_batch" | "record_too_large" | Unknown;

/**
 * Whether the record was refused or only lost a value.
 * - rejection: The record was refused.
 * - warning: The record was accepted without a value.
 */
export type IssueKind = "rejection" | "warning" | Unknown;

/** Why there is no result. */
export interface JsonRpcError {
  /**
   * What is wrong.
   * - -32700: The body is not JSON-RPC.
   * - -32600: The method is missing, or the request is too large.
   * - -32601: There is no such tool or method.
   * - -32602: The parameters cannot be used.
   * - -32603: The call could not be completed; nothing changed.
   */
  readonly code: number;
  /** The same in a sentence. */
  readonly message: string;
}

/** A response of JSON-RPC, with a result or an error. */
export interface JsonRpcResponse {
  readonly error?: JsonRpcError;
  /** The request's; null when it could not be read. */
  readonly id: string | number | null;
  /** The protocol's version. */
  readonly jsonrpc: "2.0" | Unknown;
  /** What the method gives. */
  readonly result?: { readonly [name: string]: unknown };
}

/** Bookings of a team. */
export interface LedgerAnswer {
  /** In the order in which they were booked. */
  readonly bookings: readonly (LedgerBooking)[];
  /** Whether there is more behind it now. */
  readonly has_more: boolean;
  /** To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from. */
  readonly next_cursor: string;
}

/** A booking. */
export interface LedgerBooking {
  /** How much, in US cents; never less than 0. */
  readonly amount_cents: number;
  /** What it adds to the prepaid balance, in US cents; 0 where a payment card was used. */
  readonly balance_change_cents: number;
  /** The campaign of the charge. */
  readonly campaign_id?: string;
  /** What was paid, or is given back of; of a charge that a request made, the request's `X-Request-Id`. */
  readonly charge_id?: string;
  /** When. */
  readonly created_at: string;
  /** Its id. */
  readonly id: string;
  /** Why money moved. */
  readonly kind: LedgerBookingKind;
  /** What a top-up was booked with. */
  readonly reference?: string;
  /** What is given back. */
  readonly refund_id?: string;
}

/**
 * Why money moved.
 * - top_up: It came in.
 * - charge: Mailpieces were paid for.
 * - refund: Mailpieces were cancelled, and their price given back.
 */
export type LedgerBookingKind = "top_up" | "charge" | "refund" | Unknown;

/** What a client must keep to. */
export interface Limits {
  /** Bytes of a batch. */
  readonly bytesPerBatch: number;
  /** Declared fields of an integration. */
  readonly declaredFields: number;
  /** Records in a batch. */
  readonly recordsPerBatch: number;
  /** Hours until an open sync expires. */
  readonly syncExpiryHours: number;
}

/** A mailpiece as it is now. */
export interface Mailpiece {
  /** Where it goes to, as printed. */
  readonly address: MailpieceAddress;
  /** `PA-` and six characters. */
  readonly campaign_id: string;
  /** When it was made. */
  readonly created_at: string;
  /** What it prints with. */
  readonly design: MailpieceDesign;
  /** Its id. */
  readonly id: string;
  /** The day on which it is to mail at the latest. */
  readonly mail_by_date: string;
  /** Whom it goes to, as sent; may be empty. */
  readonly name: string;
  /** `standard` or `first_class`. */
  readonly postage: string;
  /** What it costs, in US cents. */
  readonly price_cents: number;
  /** It does not print before; absent when it need not wait. */
  readonly print_after?: string;
  /** Format of the paper, such as `postcard_4x6`. */
  readonly product: string;
  /** What the sender called its recipient when it was sent last; absent when it gave nothing. */
  readonly reference?: string;
  /** How far it is. */
  readonly state: MailpieceState;
  /** How that is known. */
  readonly state_basis: MailpieceBasis;
  /** Since when; absent when nobody noted it. */
  readonly state_since?: string;
  /** The campaign's step, from 1. */
  readonly step: number;
  /** Whether it came from a test send, and never prints. */
  readonly test: boolean;
}

/** The address of a mailpiece, as printed. */
export interface MailpieceAddress {
  /** City. */
  readonly city: string;
  /** The delivery line. */
  readonly line_1: string;
  /** The second line; may be empty. */
  readonly line_2: string;
  /** Two letters. */
  readonly state: string;
  /** Five digits, or nine with a hyphen. */
  readonly zip: string;
}

/** A mailpiece with all that is known of it. */
export interface MailpieceAnswer {
  /** The charge that paid for it; of a mailpiece that a request made, the request's `X-Request-Id`. */
  readonly charge_id: string;
  /** What happened to it, the oldest first; then what is expected. */
  readonly history: readonly (HistoryEntry)[];
  /** The mailpiece. */
  readonly mailpiece: Mailpiece;
  /** Once it is cancelled: what is given back. */
  readonly refund?: MailpieceRefund;
}

/**
 * How a fact is known.
 * - scanned: The post scanned the mailpiece.
 * - reported: Somebody, or a program of ours, did it or says so.
 * - estimated: Computed from calendars; nobody has seen it.
 */
export type MailpieceBasis = "scanned" | "reported" | "estimated" | Unknown;

/** What became of a mailpiece of the team. */
export interface MailpieceChanged {
  /** `scanned`: the post saw it. `reported`: somebody or a program of ours did it, or says so. */
  readonly basis: "scanned" | "reported" | Unknown;
  /** Of which campaign. */
  readonly campaign: EventCampaign;
  /** The post's operation code and place, or why, in words. */
  readonly detail: string | null;
  /** `mailpiece.` and the state. */
  readonly event: "mailpiece.printed" | "mailpiece.entered" | "mailpiece.in_transit" | "mailpiece.delivered" | "mailpiece.returned" | "mailpiece.stalled" | "mailpiece.cancelled" | Unknown;
  /** The event's id, the same on every retry. */
  readonly id: string;
  /** The mailpiece. */
  readonly mailpiece: EventMailpiece;
  /** When it happened, by the scan or report that tells of it: UTC, ISO 8601. */
  readonly occurred_at: string;
  /** Who gets it. */
  readonly recipient: EventRecipient;
  /** Present, and true, only on a test event. */
  readonly test?: true;
}

/** The design of a mailpiece. */
export interface MailpieceDesign {
  /** Its id. */
  readonly id: string;
  /** The version that was the newest when the mailpiece was made. */
  readonly version: number;
}

/** What is given back for a mailpiece. */
export interface MailpieceRefund {
  /** In US cents. */
  readonly amount_cents: number;
  /** When it was given back; absent while it is owed. */
  readonly settled_at?: string;
}

/**
 * A state of a mailpiece.
 * - queued: Charged; it prints when its time has come.
 * - held: Out of the queue until somebody releases it, or until what keeps it from printing is mended.
 * - cancelled: Will never print; its price is given back.
 * - printing: In a print run whose files are being made.
 * - printed: In a finished print file.
 * - entered: Handed to the post.
 * - in_transit: Seen by the post on its way.
 * - forwarded: On its way to another address than the printed one.
 * - out_for_delivery: With the carrier.
 * - delivered: Delivered.
 * - returned: Came back.
 * - stalled: In the mail, and not seen for longer than the campaign expects.
 */
export type MailpieceState = "queued" | "held" | "cancelled" | "printing" | "printed" | "entered" | "in_transit" | "forwarded" | "out_for_delivery" | "delivered" | "returned" | "stalled" | Unknown;

/** Mailpieces of a team. */
export interface MailpiecesAnswer {
  /** Whether there is more behind it now. */
  readonly has_more: boolean;
  /** In the order that was asked for. Fewer than `limit`, or none, do not mean that there are no more. */
  readonly mailpieces: readonly (Mailpiece)[];
  /** To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from. */
  readonly next_cursor: string;
}

/**
 * What to do with a contact.
 * - upsert: Make it or change it.
 * - delete: Mark it removed.
 */
export type Op = "upsert" | "delete" | Unknown;

/** The open sync, as errors and answers name it. */
export interface OpenSync {
  /** When it expires. */
  readonly expiresAt: string;
  /** Its mode. */
  readonly mode: SyncMode;
  /** Its id. */
  readonly syncId: SyncId;
}

/** The open sync, beside an integration. */
export interface OpenSyncView {
  /** Batches that it received. */
  readonly batchesReceived: number;
  /** When it expires. */
  readonly expiresAt: string;
  /** Its id. */
  readonly id: SyncId;
  /** Its mode. */
  readonly mode: SyncMode;
}

/**
 * The postage of a campaign step.
 * - standard: USPS Marketing Mail.
 * - first_class: USPS First-Class Mail.
 */
export type Postage = "standard" | "first_class" | Unknown;

/** Answer to a push. */
export interface PushAnswer {
  /** Upserts that were applied. */
  readonly accepted: number;
  /** Deletes that were applied. */
  readonly deleted: number;
  /** Records that were refused. */
  readonly rejected: number;
  /** Each of them. */
  readonly rejections: readonly (Rejection)[];
  /** Values dropped from accepted records. */
  readonly warnings: readonly (WarningGroup)[];
}

/** Why a request failed. */
export interface PushError {
  /**
   * What a program branches on.
   * - contact_not_found: There is no contact with this externalId on this integration.
   * - field_locked: The owner has set another type for these columns: lifetime_value. Details: `fields`.
   * - idempotency_key_reused: This Idempotency-Key was used for a different request. Use a new key.
   * - in_progress: The first attempt with this Idempotency-Key is still running. Retry with the same key later.
   * - integration_unavailable: The integration is paused or disconnected. Its owner can resume it in the settings.
   * - internal_error: Something went wrong on our side. Nothing was changed; send the request again with the same
   * key.
   * - invalid_cursor: after must be the nextAfter of an earlier page.
   * - invalid_idempotency_key: An Idempotency-Key has 1 to 200 characters.
   * - invalid_json: The body is not JSON.
   * - invalid_key: The API key is missing, wrong or revoked, or is neither a Full access nor a Formulas only key.
   * - invalid_limit: limit must be a whole number from 1 to 1000.
   * - invalid_request: externalId names the contact and is needed.
   * - invalid_sync_id: syncId must be the id of a sync.
   * - invalid_type: type must be rejection or warning.
   * - missing_idempotency_key: This request needs an Idempotency-Key header: a new value for each request, the
   * same on its retry.
   * - no_open_sync: No sync is open. Begin one first.
   * - origin_not_allowed: Web pages of this origin may not call this server.
   * - payload_too_large: The body is over the limit of 4456448 bytes. Details: `limit`.
   * - rate_limited: Too many requests: wait a minute and send again.
   * - removal_guard: Completing would remove 0 contacts that this sync did not receive, more than the
   * integration's removal guard allows. Nothing was removed and the sync is still open: push what is missing, or
   * send confirmRemoval: true to remove them. Details: `count`, `limit`, `share`.
   * - sync_in_progress: A full sync is open already. Completing it removes every contact that it has not received:
   * push all of them into it before you do. Left alone it expires at 1970-01-01 00:00 UTC and removes nothing.
   * Details: `expiresAt`, `mode`, `syncId`.
   * - sync_not_found: There is no such sync on this integration.
   * - timeout: The request was not finished in time. Retry it with the same Idempotency-Key: it is done once.
   * - too_many_fields: An integration declares at most 1000 fields; with these it would have 1001. Details:
   * `limit`, `received`.
   * - too_many_records: A batch takes at most 1000 records; this one has 1001. Details: `limit`, `received`.
   * - unsupported_encoding: Content-Encoding must be gzip or zstd, once, or be left out.
   * - unsupported_protocol_version: MCP-Protocol-Version must be one of 2025-11-25, 2025-06-18, 2025-03-26,
   * 2024-11-05.
   * - use_post: This is an MCP server: send JSON-RPC 2.0 with POST.
   */
  readonly code: "contact_not_found" | "field_locked" | "idempotency_key_reused" | "in_progress" | "integration_unavailable" | "internal_error" | "invalid_cursor" | "invalid_idempotency_key" | "invalid_json" | "invalid_key" | "invalid_limit" | "invalid_request" | "invalid_sync_id" | "invalid_type" | "missing_idempotency_key" | "no_open_sync" | "origin_not_allowed" | "payload_too_large" | "rate_limited" | "removal_guard" | "sync_in_progress" | "sync_not_found" | "timeout" | "too_many_fields" | "too_many_records" | "unsupported_encoding" | "unsupported_protocol_version" | "use_post" | Unknown;
  readonly details?: PushErrorDetails;
  /** What is wrong, in a sentence for people. */
  readonly message: string;
}

/** What some codes come with. */
export interface PushErrorDetails {
  readonly count?: number;
  readonly expiresAt?: string;
  readonly fields?: readonly (string)[];
  readonly limit?: number;
  readonly mode?: string;
  readonly received?: number;
  readonly share?: number;
  readonly syncId?: string;
}

/** A failure of the push API and of the MCP servers. */
export interface PushFailure {
  readonly error: PushError;
}

/**
 * Records for the open sync. Each is judged by itself: a bad one is reported in the answer and stops no other.
 * At most 4456448 bytes.
 */
export interface PushRequest {
  /** At most 65536 bytes each. */
  readonly records: readonly (AnyRecord)[];
}

/** A recorded scan of a QR code on the team's mail. */
export interface QrScanned {
  /** Present, and true, when a program that looks ahead made the scan, such as a link preview. */
  readonly automated?: true;
  /** Of which campaign. */
  readonly campaign: EventCampaign;
  /** Where the QR code sent the person. */
  readonly destination: string;
  /** Always `qr.scanned`. */
  readonly event: "qr.scanned" | Unknown;
  /** The event's id, the same on every retry; that of a test event begins with `evt_test_`. */
  readonly id: string;
  /** Roughly where. */
  readonly location: EventLocation;
  /** Who got the card. */
  readonly recipient: EventRecipient;
  /** UTC, ISO 8601. */
  readonly scanned_at: string;
  /** Present, and true, only on a test event. */
  readonly test?: true;
}

/**
 * Why a recipient was not mailed.
 * - invalid_address: The address could not be verified, or a required part is missing.
 * - removed_by_sender: The sender removed the recipient from the campaign.
 * - do_not_mail: The address is on the campaign's do-not-mail list.
 * - duplicate_recent: The address was already mailed for this campaign within the window.
 * - filtered_location: Outside the area drawn on the campaign map.
 * - filtered_conditions: Waiting on the campaign's filter conditions; the one reason that is not final.
 * - unsupported_characters: The font cannot print some characters of a text box.
 * - text_overflow: A text does not fit its box.
 * - variable_image_missing: No usable variable image, and the request asked for one.
 * - budget_exceeded: The campaign's budget is spent.
 * - payment_failed: The payment was declined; nothing of the request was mailed.
 * - no_homes_found: No homes inside the radius (Neighborhood Mail).
 * - request_capacity_reached: The request's capacity is reached; send again in another request.
 */
export type Reason = "invalid_address" | "removed_by_sender" | "do_not_mail" | "duplicate_recent" | "filtered_location" | "filtered_conditions" | "unsupported_characters" | "text_overflow" | "variable_image_missing" | "budget_exceeded" | "payment_failed" | "no_homes_found" | "request_capacity_reached" | Unknown;

/**
 * Somebody to mail. Names match whatever their case; each stands once. A field whose name is longer than 200
 * characters is left out and counted in `longNamesIgnored`.
 */
export interface Recipient {
  /** Needed for mailing, as are `city`, `state` and `zip`: without it the recipient is `invalid_address`. */
  readonly address_1?: Scalar | null;
  /** Counts for deliverability; no part of the result's address. */
  readonly address_2?: Scalar | null;
  /** Like `M/D` or `YYYY-MM-DD`. */
  readonly birthday?: Scalar | null;
  /** City. */
  readonly city?: Scalar | null;
  /** E-mail address. */
  readonly email?: Scalar | null;
  /** First name. */
  readonly first_name?: Scalar | null;
  /** Last name. */
  readonly last_name?: Scalar | null;
  /** Organization. */
  readonly organization?: Scalar | null;
  /** Telephone number. */
  readonly phone?: Scalar | null;
  /** The caller's own id, echoed in the result. */
  readonly reference?: Scalar | null;
  /** Two letters. */
  readonly state?: Scalar | null;
  /** Five digits, or nine. */
  readonly zip?: Scalar | null;
  readonly [field: string]: Scalar | null | undefined;
}

/** A contact to upsert or delete. */
export interface Record {
  /** The caller's stable id of the contact. */
  readonly external_id: string;
  /** Values by declared key. An absent field keeps its value; null is stored as blank. */
  readonly fields?: { readonly [name: string]: Scalar } | null;
  /** `upsert` unless it is given. */
  readonly op?: Op | null;
}

/** The body of POST /api/v1/mailpieces/cancel. */
export interface ReferenceToCancel {
  /** The campaign. */
  readonly campaign_id: string;
  /** The `reference` that the recipients were sent with, exactly. */
  readonly reference: string;
}

/** A refused record. */
export interface Rejection {
  /** Why. */
  readonly code: IssueCode;
  /** The record's `external_id`, where it can be read. */
  readonly externalId: string | null;
  /** The field at fault. */
  readonly field?: string;
  /** Position in the batch. */
  readonly index: number;
  /** A sentence for people. */
  readonly message: string;
}

/** A stored issue. */
export interface RejectionItem {
  /** The batch's number within the sync, from 1. */
  readonly batch: number;
  /** Why. */
  readonly code: IssueCode;
  /** The record's `external_id`, where it can be read. */
  readonly externalId: string | null;
  /** The field at fault. */
  readonly field: string | null;
  /** Its number within the sync. */
  readonly id: number;
  /** Position in the batch. */
  readonly index: number;
  /** A sentence for people. */
  readonly message: string;
  /** Present, and true, when a later batch of the sync accepted the record, or a value for the field. */
  readonly resolved?: true;
}

/** Answer to GET sync/rejections. */
export interface RejectionsAnswer {
  /** In the order in which they were stored. */
  readonly items: readonly (RejectionItem)[];
  /** The `after` of the next page; null on the last one. */
  readonly nextAfter: string | null;
  /** The sync. */
  readonly syncId: SyncId;
  /** Rejections or warnings. */
  readonly type: IssueKind;
}

/** What became of a request. */
export interface RequestAnswer {
  /** The request's `X-Request-Id`. */
  readonly request_id: RequestId;
  /** Once it is done: what it was answered, byte for byte. */
  readonly response?: SendResponse;
  /** Where it stands. */
  readonly status: RequestStatus;
}

/** One HTTP request, from the gateway to the last row that it caused. */
export type RequestId = string;

/**
 * Where a request stands.
 * - running: A worker has it: ask again.
 * - done: It is finished, and `response` is its answer.
 * - unknown: Nothing is known of it: it has not begun, it failed as a whole, it was answered with the stored
 * response of an earlier request, it is too long ago, or the team never made it.
 */
export type RequestStatus = "running" | "done" | "unknown" | Unknown;

/** What became of one recipient. */
export interface Result {
  /** One line: verified when that is possible, else as sent. */
  readonly address: string;
  /** A sentence for people; programs branch on `status` and `reason`. */
  readonly detail: string;
  /** Neighborhood Mail: homes inside the radius. */
  readonly homesFound?: number;
  /** Neighborhood Mail: homes that are mailed. */
  readonly homesMailed?: number;
  /** The day by which it mails. */
  readonly mail_by_date?: string;
  /** How the card mails. */
  readonly postage?: Postage;
  /** The first step's product. */
  readonly product_type?: string;
  /** Why not, when it was not. */
  readonly reason?: Reason;
  /** The caller's own id, when it was sent. */
  readonly reference: string | null;
  /** Present, and true, when the design's fallback return address prints. */
  readonly return_address_fallback?: true;
  /** Why it does. */
  readonly return_address_reason?: ReturnAddressReason;
  /** Whether a card was queued. */
  readonly status: Status;
  /** How far the address was verified; absent when it could not be. An addition to the contract. */
  readonly verification?: AddressVerification;
  /** Fallbacks that the card prints. */
  readonly warnings?: readonly (Warning)[];
}

/**
 * Why the design's fallback return address prints.
 * - missing_token_value: A field that the return address uses is empty.
 * - unverified_address: The return address could not be verified.
 * - verification_limit_reached: The request, or the team's day, has no verification of return addresses left.
 */
export type ReturnAddressReason = "missing_token_value" | "unverified_address" | "verification_limit_reached" | Unknown;

/** A value as text. A number or a boolean counts as its JSON text; null is as absent. */
export type Scalar = string | number | boolean | null;

/** Answer to GET scans. */
export interface ScansAnswer {
  /** The oldest first. */
  readonly events: readonly (QrScanned)[];
  /** To be passed back as `after`. */
  readonly nextAfter: string;
}

/** Answer to GET schema. */
export interface SchemaAnswer {
  /** In the order of their first declaration. */
  readonly fields: readonly (Field)[];
}

/** The contact column that a field fills. */
export type Semantic = "first_name" | "last_name" | "address_1" | "address_2" | "city" | "state" | "zip" | "email" | "phone" | "organization" | Unknown;

/** What a send would cost, and what it would leave. Amounts are whole US cents. */
export interface SendPrice {
  /** What the send would leave of the team's prepaid balance; null for a team that pays by card. */
  readonly balanceAfterCents: number | null;
  /** What the send would leave of the campaign's budget; null for a campaign without one. */
  readonly budgetAfterCents: number | null;
  /** Of one card: of each recipient that would be mailed, or of each of its homes on a Neighborhood Mail campaign. */
  readonly perCardCents: number;
  /**
   * Of all cards that would be mailed if the payment succeeds. A send with this as its `expect_total` is refused
   * when it would cost another sum.
   */
  readonly totalCents: number;
}

/** Recipients for one campaign. A name that is not listed here is ignored. At most 4456448 bytes. */
export interface SendRequest {
  /** The Full access key, only for senders that cannot set headers. */
  readonly api_key?: string | null;
  /** `PA-` and six characters; case-sensitive. */
  readonly campaign_id: string;
  /**
   * What the request's cards must cost together, in whole US cents: `price.totalCents` of a dry run. When they
   * would cost another sum, the request is refused with 409 `price_changed`.
   */
  readonly expect_total?: number | null;
  /** Types of the custom fields that this request creates, by name; one without an entry is a text. */
  readonly field_types?: { readonly [name: string]: CustomFieldType } | null;
  /** Whom to mail. On a Neighborhood Mail campaign these are centers, 250 at the most. */
  readonly recipients: readonly (Recipient)[];
  /** When true, a recipient without a usable variable image is not mailed instead of printing the default image. */
  readonly require_variable_images?: boolean | null;
  /**
   * The day on which the cards are to begin, by the team's calendar: from today to 180 days ahead. They do not
   * print before it, and `mail_by_date` is counted from it. Charged at once.
   */
  readonly send_on?: string | null;
}

/** What became of a request that was carried out. */
export interface SendResponse {
  /** One result for each recipient, in the order sent. */
  readonly results: readonly (Result)[];
  /**
   * Present, and true, when all results would exceed 4 MB (4194304 bytes): then `results` lists only recipients
   * that were not mailed or were mailed with a fallback, as many as fit, in the order sent.
   */
  readonly results_truncated?: true;
  /** Counts every recipient, whatever `results` lists. */
  readonly summary: Summary;
}

/** What would become of a request: the answer to a dry run. */
export interface SendValidation {
  /** What the cards would cost, and what that would leave. */
  readonly price: SendPrice;
  /** One result for each recipient, in the order sent. */
  readonly results: readonly (Result)[];
  /** As in a send's response. */
  readonly results_truncated?: true;
  /** Counts every recipient, whatever `results` lists. */
  readonly summary: ValidationSummary;
  /** Always true. */
  readonly validated: true;
}

/**
 * Whether a card was queued.
 * - mailed: The card is queued and paid.
 * - not_mailed: No card; `reason` says why.
 * - would_mail: In a dry run only.
 */
export type Status = "mailed" | "not_mailed" | "would_mail" | Unknown;

/** The `summary` of a response; it counts every recipient, also in a truncated one. */
export interface Summary {
  /** Birthdays that could not be read whole; stored as sent. */
  readonly birthdaysNotRead?: number;
  /** Values sent for formula or AI columns. */
  readonly computedFieldsIgnored?: number;
  /** Fields, and entries of `field_types`, that were left out because their name is longer than 200 characters. */
  readonly longNamesIgnored?: number;
  /** Of these, mailed. */
  readonly mailed: number;
  /** Of these, not mailed. */
  readonly notMailed: number;
  /** Recipients in the request. */
  readonly received: number;
  /** Custom values that did not fit their column's type; stored as sent. */
  readonly unparseableTypedValues?: number;
}

/** Answer to GET sync. */
export interface SyncAnswer {
  /** The latest sync. */
  readonly sync: SyncView | null;
}

/** A sync of an integration; public. */
export type SyncId = string;

/**
 * What a sync does with contacts that it did not receive.
 * - full: They are removed when it completes.
 * - delta: They stay.
 */
export type SyncMode = "full" | "delta" | Unknown;

/**
 * Where a sync stands. `open` moves to one of the other two, for good.
 * - open: It takes batches.
 * - completed: The client completed it.
 * - expired: Its time passed before the client completed it; it removed nothing.
 */
export type SyncStatus = "open" | "completed" | "expired" | Unknown;

/** A sync. */
export interface SyncView {
  /** Batches that it received. */
  readonly batchesReceived: number;
  /** When it was begun. */
  readonly begunAt: string;
  /** When it expires, or would have. */
  readonly expiresAt: string;
  /** Its id. */
  readonly id: SyncId;
  /** Contacts that it removed when it completed. */
  readonly markedRemoved: number;
  /** Its mode. */
  readonly mode: SyncMode;
  /** Deletes that it applied. */
  readonly recordsDeleted: number;
  /** Records that it refused. */
  readonly recordsRejected: number;
  /** Upserts that it applied. */
  readonly recordsUpserted: number;
  /** Where it stands. */
  readonly status: SyncStatus;
}

/** Answer to GET syncs. */
export interface SyncsAnswer {
  /** The `after` of the next page; null on the last one. */
  readonly nextAfter: SyncId | null;
  /** The newest first. */
  readonly syncs: readonly (SyncView)[];
}

/** Answer to a complete with `validate=1`: what completing now would do. */
export interface ValidatedComplete {
  /** Its mode. */
  readonly mode: SyncMode;
  /** Deletes that it applied so far. */
  readonly recordsDeleted: number;
  /** Records that it refused so far. */
  readonly recordsRejected: number;
  /** Upserts that it applied so far. */
  readonly recordsUpserted: number;
  /** Their share of the integration's contacts, 0 to 1. */
  readonly share: number;
  /** The open sync. */
  readonly syncId: SyncId;
  /** Always true. */
  readonly validated: true;
  /** Contacts that would be removed. */
  readonly wouldRemove: number;
}

/** The `summary` of a dry run; it counts every recipient, also in a truncated one. */
export interface ValidationSummary {
  /** Birthdays that cannot be read whole. */
  readonly birthdaysNotRead?: number;
  /** Values sent for formula or AI columns. */
  readonly computedFieldsIgnored?: number;
  /** What the cards would cost together, in whole US cents, also when the payment would fail. */
  readonly costCents: number;
  /** Fields, and entries of `field_types`, that are left out because their name is longer than 200 characters. */
  readonly longNamesIgnored?: number;
  /** Of these, those that would not. */
  readonly notMailed: number;
  /** Recipients in the request. */
  readonly received: number;
  /** Custom values that do not fit their column's type. */
  readonly unparseableTypedValues?: number;
  /** Of these, those that would be mailed. */
  readonly wouldMail: number;
}

/**
 * How much of an address was confirmed.
 * - delivery_point: This house exists, and this unit where the house's units are known.
 * - street: The street exists in the ZIP code; the house or its unit is not known.
 * - zip: The address can be read, and city, state and ZIP code agree.
 * - override: Nothing: the operator vouches for the address.
 */
export type VerificationLevel = "delivery_point" | "street" | "zip" | "override" | Unknown;

/**
 * A fallback that a card mails with, a value that was cut or could not be read, or an address that was
 * corrected.
 */
export interface Warning {
  /** What fell back. */
  readonly code: "variable_image_fallback" | "variable_image_blank" | "qr_fallback_link" | "text_overlap" | "text_unmeasurable" | "text_curve_too_long" | "value_cut" | "address_corrected" | "birthday_not_read" | Unknown;
  /** A sentence for a person. */
  readonly detail: string;
  /** The design's field or element it is about. */
  readonly field: string;
}

/** The dropped values of one field and code. */
export interface WarningGroup {
  /** Why. */
  readonly code: IssueCode;
  /** Accepted records that lost a value of this field. */
  readonly count: number;
  /** `external_id` of the first record. */
  readonly externalId: string;
  /** The first of them, at most 5, in the order of the batch. */
  readonly externalIds: readonly (string)[];
  /** The field. */
  readonly field: string;
  /** Position of the first record. */
  readonly index: number;
  /** A sentence for people. */
  readonly message: string;
}
