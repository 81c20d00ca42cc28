// The service as a client sees it: operations by their names in the API document, and what is built on them.

import type { Answer, PushedBatch, SentBatch, SyncedContacts } from "./answers.js";
import { RECIPIENTS_PER_REQUEST, RECORDS_PER_BATCH, splitRows, wrapRows, writeRows } from "./batches.js";
import { AnswerLostError, GaveUpError, PillarboxError, SyncOverError } from "./errors.js";
import type * as models from "./models.js";
import { buildRequest, newKey, type Request } from "./requests.js";
import { isLeftOpen, isWorthRepeating, Received, RETRY_POLICY, type RetryPolicy, RetryState } from "./retries.js";
import { VERSION } from "./version.js";

/** Milliseconds to wait for a whole answer: longer than the service waits for its workers. */
const ANSWER_TIMEOUT = 150_000;

/** Bytes of an answer that are read: twice what the service's have at the most. */
const ANSWER_BYTES = 8 * 1024 * 1024;

/** Where the service is, and who asks. */
export interface ClientOptions {
  readonly baseUrl: string;
  /** A Full access key for sends, mailpieces and scans, an integration's key for contacts. */
  readonly key: string;
  readonly retry?: Partial<RetryPolicy>;
  /** What fetches; the platform's own unless it is given. */
  readonly fetch?: typeof fetch;
}

/** What a send says besides its recipients. */
export interface SendOptions {
  readonly campaignId: string;
  readonly fieldTypes?: Readonly<Record<string, models.CustomFieldType>>;
  readonly requireVariableImages?: boolean;
  /** The day before which nothing prints, such as `2026-12-24`. */
  readonly sendOn?: string | undefined;
}

/** What one send may say, too. */
export interface PriceOptions {
  /** What the cards must cost together, in US cents; else the send is refused (409 `price_changed`). */
  readonly expectTotal?: number | undefined;
}

/** Which mailpieces are listed. */
export interface MailpieceOptions {
  readonly campaignId?: string | undefined;
  /** The state that they are in now. */
  readonly state?: models.MailpieceState | undefined;
  readonly reference?: string | undefined;
}

/** Where the changes of mailpieces are read. */
export interface ChangeOptions extends MailpieceOptions {
  /** The `next_cursor` of an earlier page. */
  readonly cursor?: string | undefined;
  /** Without a cursor: the moment from which on, such as `2026-11-24T09:00:00Z`. */
  readonly changedSince?: string | undefined;
  /** Whether to ask again where there is no more, without an end; so it is unless false is given. */
  readonly follow?: boolean;
  /** Seconds until then; 60 unless they are given. */
  readonly pause?: number;
}

/** Where the feed of scans is read. */
export interface FeedOptions {
  /** The `nextAfter` of an earlier page; the end of the feed unless it is given. */
  readonly after?: string | undefined;
  /** Whether to wait for more where the feed ends, without an end; so it is unless false is given. */
  readonly follow?: boolean;
  /** Seconds that the service may hold a question open; 20 unless it is given, 25 at the most. */
  readonly wait?: number;
}

/** Which items of a sync are listed. */
export interface RejectionOptions {
  readonly syncId?: string | undefined;
  /** `warning` for values that were dropped. */
  readonly type?: models.IssueKind;
  /** False leaves those out that a later batch has mended. */
  readonly resolved?: boolean | undefined;
}

/** How an upload in batches is called, and where it goes on. */
export interface RunOptions {
  /** The same when the upload goes on. */
  readonly runId?: string;
  /** The number of the batch after the last one that came. */
  readonly startAt?: number;
  /** The same when the upload goes on. */
  readonly batchSize?: number;
}

type Rows<T> = Iterable<T> | AsyncIterable<T>;

/**
 * A Pillarbox service and a key to it.
 *
 * Requests that fail in passing are sent again, always as the same bytes with the same key, so nothing is done twice. Answers are of the
 * types in `models`; fields and codes that this package does not know come through.
 */
export class Client {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retry: RetryPolicy;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, key, retry, fetch: given }: ClientOptions) {
    if (!/^https?:\/\//.test(baseUrl)) throw new TypeError("baseUrl must begin with https:// or http://");
    if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError("the key is empty or holds blanks: give it as it was shown");
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#headers = { authorization: `Bearer ${key}`, "user-agent": `pillarbox-typescript/${VERSION}` };
    this.#retry = { ...RETRY_POLICY, ...retry };
    this.#fetch = given ?? ((input, init) => fetch(input, init));
  }

  // Sends.

  /** Mails recipients, 5000 at the most. The key counts once the team has switched keys on. */
  async sendRecipients(
    options: SendOptions & PriceOptions & { readonly recipients: Iterable<models.Recipient>; readonly idempotencyKey?: string },
  ): Promise<Answer<models.SendResponse>> {
    const body = writeRows(options.recipients, wrapRows("recipients", sendRest(options)));
    return this.#send(body, options.idempotencyKey ?? newKey());
  }

  /** Tells what would become of a send and what it would cost. Mails and charges nothing. */
  async validateRecipients(
    options: SendOptions & PriceOptions & { readonly recipients: Iterable<models.Recipient> },
  ): Promise<Answer<models.SendValidation>> {
    const body = writeRows(options.recipients, wrapRows("recipients", sendRest(options)));
    return this.#ask(buildRequest("sendRecipients", { validate: "1" }, body));
  }

  /**
   * Mails any number of recipients in batches that keep to the limits, one after the other.
   *
   * To go on after an interruption, give the same recipients, `runId` and `batchSize`, and as `startAt` the number of the batch after the
   * last one that came: what was under way is sent again as the same request. An error has both as `runId` and `batch`.
   */
  async *sendAll(
    options: SendOptions & RunOptions & { readonly recipients: Rows<models.Recipient> },
  ): AsyncGenerator<SentBatch, void, undefined> {
    const { recipients, runId = newKey(), startAt = 0, batchSize = RECIPIENTS_PER_REQUEST } = options;
    for await (const { number, rows, body } of splitRows(recipients, wrapRows("recipients", sendRest({ ...options, expectTotal: undefined })), batchSize)) {
      if (number < startAt) continue;
      const answer = await noting(runId, number, this.#send(body, `${runId}-${number}`));
      yield { runId, number, recipients: rows, answer };
    }
  }

  /** What became of a send, by the `X-Request-Id` of its answer. */
  async getRequest({ requestId }: { readonly requestId: string }): Promise<Answer<models.RequestAnswer>> {
    return this.#ask(buildRequest("getRequest", { id: requestId }));
  }

  // Cancelling and holding.

  /** Cancels a mailpiece and gives its price back. What is in a print run is mailed (409 `already_printed`). */
  async cancelMailpiece({ mailpieceId }: { readonly mailpieceId: string }): Promise<Answer<models.CancelledMailpiece>> {
    return this.#ask(buildRequest("cancelMailpiece", { id: mailpieceId }));
  }

  /** Cancels what a campaign has queued for the recipients that were sent with this reference. */
  async cancelByReference({ campaignId, reference }: { readonly campaignId: string; readonly reference: string }): Promise<
    Answer<models.CancelledMailpieces>
  > {
    return this.#ask(buildRequest("cancelByReference", {}, JSON.stringify({ campaign_id: campaignId, reference })));
  }

  /** Cancels what a send has queued, by the `X-Request-Id` of its answer. */
  async cancelRequest({ requestId }: { readonly requestId: string }): Promise<Answer<models.CancelledMailpieces>> {
    return this.#ask(buildRequest("cancelRequest", { id: requestId }));
  }

  /** Keeps a campaign's mailpieces from printing, those that are made meanwhile included. */
  async holdCampaign({ campaignId }: { readonly campaignId: string }): Promise<Answer<models.CampaignHoldAnswer>> {
    return this.#ask(buildRequest("holdCampaign", { id: campaignId }));
  }

  /** Gives the mailpieces of a held campaign back to the queue. */
  async releaseCampaign({ campaignId }: { readonly campaignId: string }): Promise<Answer<models.CampaignHoldAnswer>> {
    return this.#ask(buildRequest("releaseCampaign", { id: campaignId }));
  }

  // Mailpieces, campaigns and the ledger.

  /**
   * A page of the team's mailpieces, in the order in which they were paid; with `changes`, or from `changedSince` on, of what has changed. It
   * may be empty while `has_more` is true.
   */
  async listMailpieces({ cursor, limit = 100, changes = false, changedSince, campaignId, state, reference }: MailpieceOptions & {
    readonly cursor?: string | undefined;
    readonly limit?: number;
    readonly changes?: boolean;
    /** A moment, such as `2026-11-24T09:00:00Z`. */
    readonly changedSince?: string | undefined;
  } = {}): Promise<Answer<models.MailpiecesAnswer>> {
    const feed = { changes: changes ? "true" : undefined, changed_since: changedSince };
    return this.#ask(buildRequest("listMailpieces", { cursor, limit, ...feed, campaign_id: campaignId, state, reference }));
  }

  /** Every mailpiece of the team, from a cursor on, each once. */
  async *mailpieces({ cursor, campaignId, state, reference }: MailpieceOptions & { readonly cursor?: string | undefined } = {}): AsyncGenerator<
    models.Mailpiece,
    void,
    undefined
  > {
    for (let at = cursor; ; ) {
      const { body } = await this.listMailpieces({ cursor: at, limit: 1000, campaignId, state, reference });
      yield* body.mailpieces;
      if (!body.has_more) return;
      at = body.next_cursor;
    }
  }

  /** What has changed, page by page: keep `next_cursor` of each to go on later. */
  async *changePages({ cursor, changedSince, follow = true, pause = 60, campaignId, state, reference }: ChangeOptions = {}): AsyncGenerator<
    models.MailpiecesAnswer,
    void,
    undefined
  > {
    for (let at = cursor; ; ) {
      const from = at === undefined ? { changedSince } : { cursor: at };
      const { body } = await this.listMailpieces({ ...from, limit: 1000, changes: true, campaignId, state, reference });
      if (body.mailpieces.length > 0 || at === undefined) yield body;
      at = body.next_cursor;
      if (body.has_more) continue;
      if (!follow) return;
      await sleep(pause);
    }
  }

  /** The mailpieces of `changePages`: each as often as it has changed, as it is now. */
  async *changes(options: ChangeOptions = {}): AsyncGenerator<models.Mailpiece, void, undefined> {
    for await (const page of this.changePages(options)) yield* page.mailpieces;
  }

  /** One mailpiece, with what happened to it and what is expected. */
  async getMailpiece({ mailpieceId }: { readonly mailpieceId: string }): Promise<Answer<models.MailpieceAnswer>> {
    return this.#ask(buildRequest("getMailpiece", { id: mailpieceId }));
  }

  /** A page of the team's campaigns, in the order of their ids. */
  async listCampaigns({ cursor, limit = 100 }: { readonly cursor?: string | undefined; readonly limit?: number } = {}): Promise<
    Answer<models.CampaignsAnswer>
  > {
    return this.#ask(buildRequest("listCampaigns", { cursor, limit }));
  }

  /** Every campaign of the team. */
  async *campaigns(): AsyncGenerator<models.Campaign, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const { body }: Answer<models.CampaignsAnswer> = await this.listCampaigns({ cursor, limit: 1000 });
      yield* body.campaigns;
      if (!body.has_more) return;
      cursor = body.next_cursor;
    }
  }

  /** One campaign, with its steps, and its figures from one day to another: 30 days unless they are given. */
  async getCampaign({ campaignId, fromDay, toDay }: {
    readonly campaignId: string;
    readonly fromDay?: string | undefined;
    readonly toDay?: string | undefined;
  }): Promise<Answer<models.CampaignAnswer>> {
    return this.#ask(buildRequest("getCampaign", { id: campaignId, from: fromDay, to: toDay }));
  }

  /** A page of the team's ledger, in the order in which it was booked. Keep `next_cursor` to go on later. */
  async listBookings({ cursor, limit = 100 }: { readonly cursor?: string | undefined; readonly limit?: number } = {}): Promise<
    Answer<models.LedgerAnswer>
  > {
    return this.#ask(buildRequest("listBookings", { cursor, limit }));
  }

  /** Every booking of the ledger from a cursor on, each once. */
  async *bookings({ cursor }: { readonly cursor?: string | undefined } = {}): AsyncGenerator<models.LedgerBooking, void, undefined> {
    for (let at = cursor; ; ) {
      const { body } = await this.listBookings({ cursor: at, limit: 1000 });
      yield* body.bookings;
      if (!body.has_more) return;
      at = body.next_cursor;
    }
  }

  // Scans.

  /** A page of the feed of scans after a cursor; without one the end of the feed. Waits up to 25 seconds while there is nothing. */
  async listScans({ after, wait = 0 }: { readonly after?: string | undefined; readonly wait?: number } = {}): Promise<
    Answer<models.ScansAnswer>
  > {
    return this.#ask(buildRequest("listScans", { after, wait }));
  }

  /** The feed of scans from a cursor on, page by page: keep `nextAfter` of each to go on later. */
  async *scanPages({ after, follow = true, wait = 20 }: FeedOptions = {}): AsyncGenerator<models.ScansAnswer, void, undefined> {
    for (let cursor = after; ; ) {
      const { body } = await this.listScans({ after: cursor, wait: follow && cursor !== undefined ? wait : 0 });
      if (body.events.length > 0 || cursor === undefined) yield body;
      if (!follow && body.events.length === 0) return;
      cursor = body.nextAfter;
    }
  }

  /** The scans of the feed from a cursor on, each once. */
  async *scans(options: FeedOptions = {}): AsyncGenerator<models.QrScanned, void, undefined> {
    for await (const page of this.scanPages(options)) yield* page.events;
  }

  // Contacts of an integration.

  /** The key's integration, its open sync, the limits, and what to call next. */
  async getIntegration(): Promise<Answer<models.IntegrationAnswer>> {
    return this.#ask(buildRequest("getIntegration"));
  }

  /** The declared fields. */
  async getSchema(): Promise<Answer<models.SchemaAnswer>> {
    return this.#ask(buildRequest("getSchema"));
  }

  /** Declares fields. What is left out of a field is reset; fields that are not mentioned stay. */
  async declareFields({ fields }: { readonly fields: readonly models.DeclaredField[] }): Promise<Answer<models.DeclareAnswer>> {
    return this.#ask(buildRequest("declareFields", {}, JSON.stringify({ fields })));
  }

  /** The latest sync. */
  async getSync(): Promise<Answer<models.SyncAnswer>> {
    return this.#ask(buildRequest("getSync"));
  }

  /** Begins a sync. Completing a full one removes every contact that it has not received. */
  async beginSync({ mode = "full", idempotencyKey = newKey() }: { readonly mode?: models.SyncMode; readonly idempotencyKey?: string } = {}): Promise<
    Answer<models.OpenSync>
  > {
    return this.#ask(buildRequest("beginSync", { "Idempotency-Key": idempotencyKey }, JSON.stringify({ mode })));
  }

  /** Pushes a batch into the open sync, 1000 records at the most. Bad records are rejected one by one. */
  async pushRecords({ records, idempotencyKey = newKey() }: {
    readonly records: Iterable<models.Record>;
    readonly idempotencyKey?: string;
  }): Promise<Answer<models.PushAnswer>> {
    return this.#push(writeRows(records, wrapRows("records", {})), idempotencyKey);
  }

  /** Checks a batch as a push does, and changes nothing. */
  async validateRecords({ records }: { readonly records: Iterable<models.Record> }): Promise<Answer<models.DryRunAnswer>> {
    return this.#ask(buildRequest("pushRecords", { validate: "1" }, writeRows(records, wrapRows("records", {}))));
  }

  /** Completes the open sync. `confirmRemoval` goes through with a removal that the guard holds back (409 `removal_guard`). */
  async completeSync({ syncId, confirmRemoval = false, idempotencyKey = newKey() }: {
    readonly syncId?: string;
    readonly confirmRemoval?: boolean;
    readonly idempotencyKey?: string;
  } = {}): Promise<Answer<models.CompleteAnswer>> {
    return this.#ask(buildRequest("completeSync", { "Idempotency-Key": idempotencyKey }, completeBody(syncId, confirmRemoval)));
  }

  /** Counts what completing would remove, and changes nothing. */
  async validateComplete({ syncId }: { readonly syncId?: string } = {}): Promise<Answer<models.ValidatedComplete>> {
    return this.#ask(buildRequest("completeSync", { validate: "1" }, completeBody(syncId, false)));
  }

  /** Pushes any number of records into the open sync, in batches that keep to the limits. Goes on as `sendAll` does. */
  async *pushAll(options: RunOptions & { readonly records: Rows<models.Record> }): AsyncGenerator<PushedBatch, void, undefined> {
    const { records, runId = newKey(), startAt = 0, batchSize = RECORDS_PER_BATCH } = options;
    for await (const { number, rows, body } of splitRows(records, wrapRows("records", {}), batchSize)) {
      if (number < startAt) continue;
      const answer = await noting(runId, number, this.#push(body, `${runId}-${number}`));
      yield { runId, number, records: rows, answer };
    }
  }

  /**
   * Begins a sync, pushes all records and completes it. After an interruption, or to confirm a removal that the guard holds back, the same
   * call with the same `runId` and records goes on: what was done is answered again, and not done again. Keys last 7 days. An error has
   * the run's id as `runId`.
   */
  async syncContacts({ records, mode = "full", confirmRemoval = false, runId = newKey() }: {
    readonly records: Rows<models.Record>;
    readonly mode?: models.SyncMode;
    readonly confirmRemoval?: boolean;
    readonly runId?: string;
  }): Promise<SyncedContacts> {
    const begun = await noting(runId, null, this.beginSync({ mode, idempotencyKey: `${runId}-begin` }));
    const { syncId } = begun.body;
    if (begun.isReplayed) await noting(runId, null, this.#checkNoOtherSync(syncId));
    let [accepted, deleted] = [0, 0];
    const rejections: models.Rejection[] = [];
    const warnings: models.WarningGroup[] = [];
    for await (const { answer } of this.pushAll({ records, runId })) {
      accepted += answer.body.accepted;
      deleted += answer.body.deleted;
      rejections.push(...answer.body.rejections);
      warnings.push(...answer.body.warnings);
    }
    const complete = this.completeSync({ syncId, confirmRemoval, idempotencyKey: `${runId}-complete` });
    const completed = (await noting(runId, null, complete)).body;
    return { runId, syncId, accepted, deleted, rejections, warnings, completed };
  }

  /** A page of a sync's rejected records, or with `type: "warning"` of values that were dropped. */
  async listRejections({ syncId, type = "rejection", resolved, after, limit = 100 }: RejectionOptions & {
    readonly after?: string | undefined;
    readonly limit?: number;
  } = {}): Promise<Answer<models.RejectionsAnswer>> {
    const told = resolved === undefined ? undefined : String(resolved);
    return this.#ask(buildRequest("listRejections", { syncId, type, resolved: told, after, limit }));
  }

  /** Every item of `listRejections`. All of them are of one sync, though another one may begin meanwhile. */
  async *rejections(options: RejectionOptions = {}): AsyncGenerator<models.RejectionItem, void, undefined> {
    let [syncId, after] = [options.syncId, undefined as string | undefined];
    do {
      const { body } = await this.listRejections({ ...options, syncId, after, limit: 1000 });
      yield* body.items;
      [syncId, after] = [body.syncId, body.nextAfter ?? undefined];
    } while (after !== undefined);
  }

  /** A page of the integration's syncs, the newest first. */
  async listSyncs({ after, limit = 100 }: { readonly after?: string | undefined; readonly limit?: number } = {}): Promise<
    Answer<models.SyncsAnswer>
  > {
    return this.#ask(buildRequest("listSyncs", { after, limit }));
  }

  /** Every sync of the integration, the newest first. */
  async *syncs(): AsyncGenerator<models.SyncView, void, undefined> {
    let after: string | undefined;
    do {
      const { body } = await this.listSyncs({ after, limit: 1000 });
      yield* body.syncs;
      after = body.nextAfter ?? undefined;
    } while (after !== undefined);
  }

  /** One contact, with its newest issues. */
  async getContact({ externalId }: { readonly externalId: string }): Promise<Answer<models.ContactAnswer>> {
    return this.#ask(buildRequest("getContact", { externalId }));
  }

  // How requests are made.

  #send(body: string, key: string): Promise<Answer<models.SendResponse>> {
    return this.#ask(buildRequest("sendRecipients", { "Idempotency-Key": key }, body), true);
  }

  #push(body: string, key: string): Promise<Answer<models.PushAnswer>> {
    return this.#ask(buildRequest("pushRecords", { "Idempotency-Key": key }, body));
  }

  /** A push names no sync: it goes into the one that is open. */
  async #checkNoOtherSync(syncId: string): Promise<void> {
    const { openSync } = (await this.getIntegration()).body;
    if (openSync !== null && openSync.id !== syncId) {
      throw new SyncOverError(`sync ${syncId} is over, and sync ${openSync.id} is open: nothing was pushed`);
    }
  }

  /** Sends a request until there is an answer, good or bad. */
  async #ask<T>(request: Request, isLookedUp = false): Promise<Answer<T>> {
    const state = new RetryState(this.#retry);
    for (;;) {
      state.attempts += 1;
      const attempt = await this.#attempt(request);
      if (attempt instanceof Received && attempt.status >= 200 && attempt.status < 300) {
        const { requestId, isReplayed, costCents } = attempt;
        const { hasLostAnAnswer: afterLostAnswer, attempts } = state;
        return { body: attempt.readJson(request.changesSomething) as T, requestId, isReplayed, costCents, afterLostAnswer, attempts };
      }
      const pause = state.nextPause(attempt);
      if (isLookedUp && attempt instanceof Received && isLeftOpen(attempt) && attempt.requestId !== null) {
        const found = await this.#lookUp(attempt.requestId);
        if (found !== null) {
          const { requestId } = attempt;
          const told = { requestId, isReplayed: true, costCents: null, afterLostAnswer: true, attempts: state.attempts };
          return { body: found as T, ...told };
        }
      }
      if (pause === null) throw toError(attempt, state, state.hasLostAnAnswer && request.changesSomething);
      await sleep(pause);
    }
  }

  /** Sends a request once. */
  async #attempt(request: Request): Promise<Received | AnswerLostError> {
    try {
      const answer = await this.#fetch(this.#baseUrl + request.path, {
        method: request.method,
        headers: { ...this.#headers, ...request.headers },
        body: request.body,
        // A redirect would turn a POST into a GET.
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_TIMEOUT),
      });
      return new Received(answer.status, answer.headers, await readText(answer));
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      return new AnswerLostError(`${error instanceof Error ? error.message : String(error)}${cause}`);
    }
  }

  /** The answer of a send whose deadline passed, once it is done; null when nothing is known of it. */
  async #lookUp(requestId: string): Promise<models.SendResponse | null> {
    const request = buildRequest("getRequest", { id: requestId });
    for (let asked = 0; asked < this.#retry.lookUps; asked += 1) {
      const attempt = await this.#attempt(request);
      let pause = this.#retry.lookUpPause;
      if (attempt instanceof Received) {
        if (attempt.status === 200) {
          const told = attempt.readJson(true) as models.RequestAnswer;
          if (told.status !== "running") return told.response ?? null;
        } else if (attempt.status === 429) pause = Math.min(attempt.retryAfter(), this.#retry.longestRateWait);
        else if (!isWorthRepeating(attempt)) return null;
      }
      await sleep(pause);
    }
    return null;
  }
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** The text of an answer that is not too long. */
async function readText(answer: Response): Promise<string> {
  const [decoder, reader] = [new TextDecoder(), answer.body?.getReader()];
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > ANSWER_BYTES) {
      await reader?.cancel();
      throw new Error(`the answer is longer than ${ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function sendRest({ campaignId, fieldTypes, requireVariableImages = false, sendOn, expectTotal }: SendOptions & PriceOptions): object {
  const types = fieldTypes !== undefined && Object.keys(fieldTypes).length > 0 ? { field_types: fieldTypes } : {};
  const images = requireVariableImages ? { require_variable_images: true } : {};
  // What is undefined is not written.
  return { campaign_id: campaignId, ...types, ...images, send_on: sendOn, expect_total: expectTotal };
}

function completeBody(syncId: string | undefined, confirmRemoval: boolean): string {
  return JSON.stringify({ syncId, ...(confirmRemoval ? { confirmRemoval } : {}) });
}

/** What the promise gives; its errors say of which run and batch they are. */
async function noting<T>(runId: string, batch: number | null, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof PillarboxError) {
      error.runId = runId;
      error.batch = batch;
    }
    throw error;
  }
}

/** Refusals are told as they are; what was tried in vain as given up. */
function toError(attempt: Received | AnswerLostError, state: RetryState, mayBeDone: boolean): PillarboxError {
  const last = attempt instanceof Received ? attempt.toError(mayBeDone) : attempt;
  return attempt instanceof Received && !isWorthRepeating(attempt) ? last : new GaveUpError(state.attempts, last, mayBeDone);
}
