// Client of Pillarbox: send direct mail, sync contacts, hear of scans.

export type { Answer, PushedBatch, SentBatch, SyncedContacts } from "./answers.js";
export {
  type ChangeOptions,
  Client,
  type ClientOptions,
  type FeedOptions,
  type MailpieceOptions,
  type PriceOptions,
  type RejectionOptions,
  type RunOptions,
  type SendOptions,
} from "./client.js";
export {
  AnswerLostError,
  ApiError,
  GaveUpError,
  PillarboxError,
  SyncOverError,
  UnreadableAnswerError,
  WebhookError,
} from "./errors.js";
export type * as models from "./models.js";
export { OPERATIONS } from "./operations.js";
export { newKey } from "./requests.js";
export type { RetryPolicy } from "./retries.js";
export { VERSION } from "./version.js";
export { type Delivery, verifyWebhook } from "./webhooks.js";
