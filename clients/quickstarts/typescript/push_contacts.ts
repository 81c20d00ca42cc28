// Pushes all contacts of a file of one JSON object a line as a full sync: node push_contacts.js CONTACTS.jsonl, with PILLARBOX_KEY (a key
// of the integration). Each has an id; contacts that the file lacks are removed.

import { createReadStream } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { ApiError, Client, type models } from "pillarbox";

const PARTS = ["first_name", "last_name", "address_1", "city", "state", "zip"];

async function* readRecords(file: string): AsyncGenerator<models.Record> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.trim()) continue;
    const { id, ...fields } = JSON.parse(line) as { id: string; [field: string]: models.Scalar };
    yield { external_id: id, fields };
  }
}

const client = new Client({ baseUrl: process.env["PILLARBOX_URL"] ?? "", key: process.env["PILLARBOX_KEY"] ?? "" });
await client.declareFields({ fields: [...PARTS.map((part) => ({ key: part, semantic: part })), { key: "visits", type: "number" }] });
try {
  const synced = await client.syncContacts({ records: readRecords(process.argv[2] ?? ""), mode: "full" });
  for (const { externalId, code, message } of synced.rejections) console.error(externalId, code, message);
  const { accepted, rejections, completed } = synced;
  console.log(`${accepted} accepted, ${rejections.length} rejected, ${completed.markedRemoved} removed`);
} catch (error) {
  if (!(error instanceof ApiError) || error.code !== "removal_guard") throw error;
  console.error(`${String(error.details["count"])} contacts would be removed: is the file whole? Nothing was removed.`);
  process.exitCode = 1;
}
