// Requests as they are sent.

import { OPERATIONS } from "./operations.js";

/** One request. It is the same one however often it is sent. */
export interface Request {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly changesSomething: boolean;
}

export type Parameters = Readonly<Record<string, string | number | null | undefined>>;

/** An `Idempotency-Key` that nobody else uses. */
export function newKey(): string {
  // There since Node.js 19 and in browsers; Node.js 18 has none without its module, and a key is no secret.
  const random = globalThis.crypto as Crypto | undefined;
  const bytes = random?.getRandomValues(new Uint8Array(16)) ?? Uint8Array.from({ length: 16 }, () => Math.floor(Math.random() * 256));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The request of an operation. Parameters that are null or undefined are left out. */
export function buildRequest(operation: keyof typeof OPERATIONS, parameters: Parameters = {}, body: string | null = null): Request {
  const known = OPERATIONS[operation];
  let path: string = known.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (!(known.parameters as readonly string[]).includes(name)) throw new TypeError(`${operation} takes no ${name}`);
    if (value === null || value === undefined) continue;
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (name === "Idempotency-Key") headers["idempotency-key"] = String(value);
    else query.set(name, String(value));
  }
  if (body !== null) headers["content-type"] = "application/json";
  const changesSomething = known.method !== "GET" && !query.has("validate");
  const told = query.toString();
  return { method: known.method, path: told ? `${path}?${told}` : path, headers, body, changesSomething };
}
