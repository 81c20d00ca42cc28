// Rows become requests within the service's limits. The same rows always make the same requests.

/** Bytes of a request's body at the most. */
export const BODY_BYTES = 4_456_448;
/** Recipients of a send at the most; of a Neighborhood Mail campaign 250. */
export const RECIPIENTS_PER_REQUEST = 5000;
/** Records of a push at the most. */
export const RECORDS_PER_BATCH = 1000;

/** Rows that go together. */
export interface Batch<T> {
  /** From 0. */
  readonly number: number;
  readonly rows: readonly T[];
  /** The request's body. */
  readonly body: string;
}

/** What stands in a body before and behind its rows. */
export interface Around {
  readonly before: string;
  readonly after: string;
}

const encoder = new TextEncoder();

function countBytes(text: string): number {
  return encoder.encode(text).length;
}

export function wrapRows(name: string, rest: object): Around {
  const tail = JSON.stringify(rest).slice(1);
  return { before: `{"${name}":[`, after: `]${tail.length > 1 ? "," : ""}${tail}` };
}

export function writeRows(rows: Iterable<object>, around: Around): string {
  return around.before + JSON.stringify([...rows]).slice(1, -1) + around.after;
}

/** The rows in batches of at most so many rows and bytes. Throws a `RangeError` at a row that is too large for any. */
export async function* splitRows<T extends object>(
  rows: Iterable<T> | AsyncIterable<T>,
  around: Around,
  mostRows: number,
): AsyncGenerator<Batch<T>> {
  const room = BODY_BYTES - countBytes(around.before) - countBytes(around.after);
  let [number, size, position] = [0, 0, 0];
  let held: T[] = [];
  let parts: string[] = [];
  const close = (): Batch<T> => ({ number, rows: held, body: around.before + parts.join(",") + around.after });
  for await (const row of rows) {
    const part = JSON.stringify(row);
    const bytes = countBytes(part);
    if (bytes > room) throw new RangeError(`row ${position} has ${bytes} bytes, and a request takes ${room}`);
    if (held.length > 0 && (held.length === mostRows || size + 1 + bytes > room)) {
      yield close();
      [number, size, held, parts] = [number + 1, 0, [], []];
    }
    size += bytes + (held.length > 0 ? 1 : 0);
    held.push(row);
    parts.push(part);
    position += 1;
  }
  if (held.length > 0) yield close();
}
