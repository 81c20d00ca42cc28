// What can go wrong, with the service's code and the request's id.

/** Every error of this package. */
export class PillarboxError extends Error {
  override readonly name: string = "PillarboxError";
  /** The code of the service's answer, such as `campaign_not_found`; null when there was no answer to read. */
  readonly code: string | null = null;
  /** The answer's `X-Request-Id`, which names the request in the service's logs. */
  readonly requestId: string | null = null;
  /** Whether the request may have been carried out all the same. */
  readonly mayBeDone: boolean = false;
  /** Of an upload: its name and the number of the batch that failed, to go on from. */
  runId: string | null = null;
  batch: number | null = null;
}

/** What the service said of a refusal. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The service refused the request, and would again. Codes that this package does not know are possible. */
export class ApiError extends PillarboxError {
  override readonly name = "ApiError";
  override readonly code: string;
  override readonly requestId: string | null;
  override readonly mayBeDone: boolean;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(refusal: Refusal, mayBeDone: boolean) {
    const { status, code, message, requestId, details } = refusal;
    super(`${status} ${code}: ${message} (request ${requestId}; \`pillarbox explain ${code}\` says more)`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.details = details;
    this.mayBeDone = mayBeDone;
  }
}

/** The connection could not be made, or was lost before the answer was whole. */
export class AnswerLostError extends PillarboxError {
  override readonly name = "AnswerLostError";
}

/** What answered does not speak as the service does: is the base URL right? */
export class UnreadableAnswerError extends PillarboxError {
  override readonly name = "UnreadableAnswerError";
  override readonly requestId: string | null;
  override readonly mayBeDone: boolean;

  constructor(message: string, requestId: string | null, mayBeDone = false) {
    super(message);
    this.requestId = requestId;
    this.mayBeDone = mayBeDone;
  }
}

/** The request was tried again and again. `last` is what came of the last attempt. */
export class GaveUpError extends PillarboxError {
  override readonly name = "GaveUpError";
  override readonly code: string | null;
  override readonly requestId: string | null;
  override readonly mayBeDone: boolean;

  constructor(
    readonly attempts: number,
    readonly last: PillarboxError,
    mayBeDone: boolean,
  ) {
    super(`gave up after ${attempts} attempts; the last one ended with: ${last.message}`);
    this.code = last.code;
    this.requestId = last.requestId;
    this.mayBeDone = mayBeDone;
  }
}

/** The sync of this run is over and another one is open, into which records of this run would go: begin a new run. */
export class SyncOverError extends PillarboxError {
  override readonly name = "SyncOverError";
}

/** A delivery whose signature does not prove that it comes from the service. */
export class WebhookError extends PillarboxError {
  override readonly name = "WebhookError";
}
