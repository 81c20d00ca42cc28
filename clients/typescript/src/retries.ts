// What follows an attempt at a request.

import { AnswerLostError, ApiError, type PillarboxError, UnreadableAnswerError } from "./errors.js";

/** Seconds that are waited after a 429 without `Retry-After`. */
const RATE_WINDOW = 60;

/** How often and how long. Times are in seconds. */
export interface RetryPolicy {
  /** Attempts that fail, one at least. */
  readonly tries: number;
  /** The pause after the first failure; each further one is twice as long, a random quarter less. */
  readonly pause: number;
  /** The longest pause after a failure. */
  readonly longestPause: number;
  /** Times in a row that a 429 is waited out. */
  readonly rateWaits: number;
  /** The longest time that `Retry-After` is followed. */
  readonly longestRateWait: number;
  /** Questions about a request whose answer was lost, while the service works on it. */
  readonly lookUps: number;
  /** The pause between two of them. */
  readonly lookUpPause: number;
}

/** What holds where nothing else is said. */
export const RETRY_POLICY: RetryPolicy = {
  tries: 5,
  pause: 1,
  longestPause: 60,
  rateWaits: 60,
  longestRateWait: 600,
  lookUps: 60,
  lookUpPause: 5,
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An answer as it came. */
export class Received {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly body: string,
  ) {}

  get requestId(): string | null {
    return this.headers.get("x-request-id");
  }

  get isReplayed(): boolean {
    return this.headers.has("idempotency-replayed");
  }

  get costCents(): number | null {
    const cost = this.headers.get("x-cost-cents") ?? "";
    return /^\d+$/.test(cost) ? Number(cost) : null;
  }

  /** Seconds that the service asks to wait. A date, which it never gives, counts as absent. */
  retryAfter(otherwise: number = RATE_WINDOW): number {
    const asked = (this.headers.get("retry-after") ?? "").trim();
    return /^\d+$/.test(asked) ? Number(asked) : otherwise;
  }

  readJson(mayBeDone: boolean): unknown {
    try {
      return JSON.parse(this.body);
    } catch {
      const message = `the answer with status ${this.status} is no JSON: is the base URL right?`;
      throw new UnreadableAnswerError(message, this.requestId, mayBeDone);
    }
  }

  /** The error that the body tells of, in the envelope of either API. */
  toError(mayBeDone: boolean): PillarboxError {
    const strange = new UnreadableAnswerError(`${this.status}, not in Pillarbox's words: is the base URL right?`, this.requestId);
    let body: unknown;
    try {
      body = JSON.parse(this.body);
    } catch {
      return strange;
    }
    const told = isObject(body) ? (body["error"] ?? body) : body;
    if (!isObject(told) || typeof told["code"] !== "string") return strange;
    const { code, message, details } = told;
    const refusal = { status: this.status, code, message: String(message ?? ""), requestId: this.requestId };
    return new ApiError({ ...refusal, details: isObject(details) ? details : {} }, mayBeDone);
  }
}

/** The attempts at one request so far. */
export class RetryState {
  #failures = 0;
  #rateWaits = 0;
  /** How often the request was sent. */
  attempts = 0;
  /** Whether an attempt may have been carried out without our knowing. */
  hasLostAnAnswer = false;

  constructor(readonly policy: RetryPolicy) {}

  /** Seconds to wait before the same again; null when this is the end, good or bad. */
  nextPause(attempt: Received | AnswerLostError): number | null {
    if (attempt instanceof AnswerLostError) {
      this.hasLostAnAnswer = true;
      return this.#pauseAfterFailure();
    }
    if (attempt.status === 429) {
      this.#rateWaits += 1;
      return this.#rateWaits > this.policy.rateWaits ? null : Math.min(attempt.retryAfter(), this.policy.longestRateWait);
    }
    if (isLeftOpen(attempt)) {
      this.hasLostAnAnswer = true;
      return this.#pauseAfterFailure();
    }
    // Nothing was done (500, 503), or our own earlier attempt is still running.
    if (attempt.status === 500 || attempt.status === 503 || isInProgress(attempt)) {
      const pause = this.#pauseAfterFailure();
      return pause === null ? null : Math.max(pause, Math.min(attempt.retryAfter(0), this.policy.longestRateWait));
    }
    return null;
  }

  #pauseAfterFailure(): number | null {
    this.#failures += 1;
    this.#rateWaits = 0;
    if (this.#failures >= this.policy.tries) return null;
    const doubled = this.policy.pause * 2 ** Math.min(this.#failures - 1, 16);
    // Clients that failed together do not come back together.
    return Math.min(doubled, this.policy.longestPause) * (0.75 + Math.random() / 4);
  }
}

function isInProgress(attempt: Received): boolean {
  return attempt.status === 409 && attempt.toError(false).code === "in_progress";
}

/** Whether the request may have been carried out: a deadline that passed, or a balancer's lost connection. */
export function isLeftOpen(attempt: Received): boolean {
  return [408, 502, 504].includes(attempt.status);
}

/** Whether the same request may be answered otherwise later. */
export function isWorthRepeating(attempt: Received): boolean {
  return [408, 429, 500, 502, 503, 504].includes(attempt.status) || isInProgress(attempt);
}
