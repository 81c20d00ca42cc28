// Mails everybody in a file of one JSON recipient a line: node send_file.js CAMPAIGN PEOPLE.jsonl
//
// 429, 5xx and lost answers are waited out and sent again as the same requests. When it ends early, the same command goes on, and nobody
// is mailed twice. PEOPLE.jsonl.results tells what became of each recipient; of a batch twice, if the command was killed while it wrote.

import { appendFileSync, createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { Client, type models, newKey } from "pillarbox";

const [campaignId = "", people = ""] = process.argv.slice(2);
const [progress, results] = [`${people}.progress`, `${people}.results`];

async function* readPeople(): AsyncGenerator<models.Recipient> {
  for await (const line of createInterface({ input: createReadStream(people) })) {
    if (line.trim()) yield JSON.parse(line) as models.Recipient;
  }
}

// Whoever is stopped in the middle leaves the old state whole.
function save(): void {
  writeFileSync(`${progress}.new`, JSON.stringify(state));
  renameSync(`${progress}.new`, progress);
}

// Which run it is stands in a file before anything is sent: it is what makes a repeat the same request.
let state = { runId: newKey(), startAt: 0, mailed: 0, cents: 0 };
if (existsSync(progress)) state = JSON.parse(readFileSync(progress, "utf8")) as typeof state;
save();

const client = new Client({ baseUrl: process.env["PILLARBOX_URL"] ?? "", key: process.env["PILLARBOX_KEY"] ?? "" });
const { runId, startAt } = state;
for await (const { number, answer } of client.sendAll({ campaignId, recipients: readPeople(), runId, startAt, batchSize: 2000 })) {
  appendFileSync(results, answer.body.results.map((result) => `${JSON.stringify(result)}\n`).join(""));
  const { mailed } = answer.body.summary;
  // A stored answer does not tell its cost again: see Billing.
  state = { runId, startAt: number + 1, mailed: state.mailed + mailed, cents: state.cents + (answer.costCents ?? 0) };
  save();
  console.error(`batch ${number}: ${JSON.stringify(answer.body.summary)}`);
}
console.log(`${state.mailed} mailed for $${(state.cents / 100).toFixed(2)}; each one's outcome is in ${results}`);
