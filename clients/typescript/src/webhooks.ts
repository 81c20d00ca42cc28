// Does a delivery come from the service? As the Standard Webhooks specification has it.

import { WebhookError } from "./errors.js";
import type { QrScanned } from "./models.js";

/** Seconds that a delivery's time may differ from ours. */
const TOLERANCE = 300;

/** What a delivery is checked by. */
export interface Delivery {
  /** The body as it came: parse it, and the signature fits no more. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The endpoint's `whsec_…`. */
  readonly secret: string;
  /** Seconds that a delivery's time may differ from ours; 300 unless it is given. */
  readonly tolerance?: number;
  /** Unix seconds; the present unless it is given. */
  readonly now?: number;
}

/**
 * Checks the signature of a delivery, and reads its event. Throws a `WebhookError`. Deliveries come at least once: skip an `id` that you
 * have seen.
 */
export async function verifyWebhook(delivery: Delivery): Promise<QrScanned> {
  const header = (name: string): string => {
    const value = readHeader(delivery.headers, name);
    if (value === null) throw new WebhookError(`the delivery has no ${name} header: is signing switched on for the endpoint?`);
    return value;
  };
  const [id, sentAt, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (!/^\d+$/.test(sentAt)) throw new WebhookError("webhook-timestamp is no time");
  const now = delivery.now ?? Date.now() / 1000;
  if (Math.abs(now - Number(sentAt)) > (delivery.tolerance ?? TOLERANCE)) {
    throw new WebhookError("the delivery is too old, or from the future");
  }
  const body = typeof delivery.body === "string" ? new TextEncoder().encode(delivery.body) : delivery.body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${sentAt}.`), body);
  if (!(await fitsAny(delivery.secret, signatures.split(" "), signed))) {
    throw new WebhookError("no signature of the delivery fits the secret");
  }
  const event = parseObject(new TextDecoder().decode(body));
  if (event?.["id"] !== id) throw new WebhookError("the delivery's body is not that of its webhook-id");
  return event as unknown as QrScanned;
}

function readHeader(headers: Delivery["headers"], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : null;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}

/** The bytes of base64; null for what is none. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Whether one of them fits; after a rotation there are two. The comparison takes the same time wherever they differ. */
async function fitsAny(secret: string, signatures: readonly string[], signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = secret.startsWith("whsec_") ? decodeBase64(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0) throw new WebhookError("the secret is not one of an endpoint: it begins with whsec_");
  const subtle = await findSubtle();
  const key = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const signature of signatures) {
    const given = signature.startsWith("v1,") ? decodeBase64(signature.slice("v1,".length)) : null;
    if (given !== null && (await subtle.verify("HMAC", key, given, signed))) return true;
  }
  return false;
}

/** Node.js 18 has it in a module alone. */
async function findSubtle(): Promise<SubtleCrypto> {
  const own = globalThis.crypto as Crypto | undefined;
  if (own !== undefined) return own.subtle;
  const module = "node:crypto";
  const { webcrypto } = (await import(module)) as { webcrypto: Crypto };
  return webcrypto.subtle;
}
