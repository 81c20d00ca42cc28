// What operations give back.

import type * as models from "./models.js";

/** An answer with status 200. */
export interface Answer<T> {
  /** What it says. Fields that this package does not know are in it, too. */
  readonly body: T;
  /** Its `X-Request-Id`. */
  readonly requestId: string | null;
  /** Whether it is the stored answer of an earlier attempt. */
  readonly isReplayed: boolean;
  /** What a send has cost, in US cents, when the service tells. */
  readonly costCents: number | null;
  /** Whether an attempt before may have been carried out: then `duplicate_recent` may mean that it mailed the recipient. */
  readonly afterLostAnswer: boolean;
  /** How often the request was sent. */
  readonly attempts: number;
}

/** What came of one batch of recipients. */
export interface SentBatch {
  /** To be given to go on later. */
  readonly runId: string;
  readonly number: number;
  readonly recipients: readonly models.Recipient[];
  readonly answer: Answer<models.SendResponse>;
}

/** What came of one batch of records. */
export interface PushedBatch {
  /** To be given to go on later. */
  readonly runId: string;
  readonly number: number;
  readonly records: readonly models.Record[];
  readonly answer: Answer<models.PushAnswer>;
}

/** What came of a whole sync. `rejections` have their position in their batch; the records' ids tell them apart. */
export interface SyncedContacts {
  readonly runId: string;
  readonly syncId: string;
  readonly accepted: number;
  readonly deleted: number;
  readonly rejections: readonly models.Rejection[];
  readonly warnings: readonly models.WarningGroup[];
  readonly completed: models.CompleteAnswer;
}
