// The contract's cases with the TypeScript client: run.mjs CLIENT, where CLIENT is its compiled index.js. The environment is that of
// run.py. Prints how many cases passed.

import { readFileSync } from "node:fs";
import { request as ask } from "node:http";
import { pathToFileURL } from "node:url";
import { randomUUID } from "node:crypto";

const { Client, OPERATIONS, PillarboxError, verifyWebhook } = await import(pathToFileURL(process.argv[2]).href);
const environment = process.env;
const PROXY = environment.PILLARBOX_PROXY;
const CASES = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));
// Letters of a value of which two fit into a request.
const BIG = 2_000_000;
// Days from now to one for which mail may be sent.
const LATER = 30;
// Times that a step is done until it brings what is expected, and milliseconds between them.
const [UNTIL, UNTIL_PAUSE] = [100, 100];
// Operations that clients of other kinds call: phones and agents.
const NOT_OURS = ["followQrCode", "lookUpQrCode", "callIntegrationsMcp", "callFormulasMcp"];
// What a client's wrappers hold, beside the service's own JSON.
const WRAPPED = {
  answer: ["body", "requestId", "isReplayed", "costCents", "afterLostAnswer", "attempts"],
  batch: ["runId", "number", "answer"],
  synced: ["runId", "syncId", "accepted", "deleted", "rejections", "warnings", "completed"],
};
const ERROR = ["code", "requestId", "status", "details", "mayBeDone", "batch", "runId", "attempts"];

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const fail = (message) => {
  throw new Error(message);
};

/** The client has a method for each operation, which takes each of its parameters. */
function checkOperations() {
  for (const [name, { parameters }] of Object.entries(OPERATIONS)) {
    if (NOT_OURS.includes(name)) continue;
    const method = Client.prototype[name] ?? fail(`Client lacks ${name}`);
    for (const parameter of parameters) {
      const noun = name.replace(/^[a-z]+/, "").toLowerCase();
      const named = { "Idempotency-Key": "idempotencyKey", id: `${noun}Id`, from: "fromDay", to: "toDay" };
      const shown = named[parameter] ?? camel(parameter);
      const dry = name.replace(/^[a-z]+/, "validate").replace("Sync", "Complete");
      const isTaken = parameter === "validate" ? dry in Client.prototype : method.toString().includes(shown);
      if (!isTaken) fail(`${name} takes no ${parameter}`);
    }
  }
}

async function callProxy(path, body) {
  const answer = await fetch(PROXY + path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  return answer.json();
}

/** A phone opens the card's code. */
function scanCard() {
  return new Promise((resolve, reject) => {
    const opened = (answer) => (answer.statusCode === 302 ? resolve(null) : reject(new Error(`status ${answer.statusCode}`)));
    ask(`${environment.PILLARBOX_GATEWAY}/q/${environment.PILLARBOX_CARD}`, (answer) => opened(answer.resume())).on("error", reject).end();
  });
}

function normalise(value) {
  if (Array.isArray(value)) return value.map(normalise);
  for (const names of Object.values(WRAPPED)) {
    if (value && names.every((name) => name in value)) {
      return Object.fromEntries(names.map((name) => [snake(name), name === "answer" ? normalise(value[name]) : value[name]]));
    }
  }
  return value;
}

function describeError(error) {
  const told = ERROR.filter((name) => name in error).map((name) => [snake(name), error[name]]);
  return { error: error.name, ...Object.fromEntries(told) };
}

/** Puts values in the places of $names; a text that is nothing else becomes the value. */
function fill(value, known) {
  if (typeof value === "string") {
    if (value.startsWith("$") && value.slice(1) in known) return known[value.slice(1)];
    return value.replace(/\$(\w+)/g, (whole, name) => String(known[name] ?? whole));
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, known));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, known)]));
  return value;
}

const pick = (value, path) => path.split(".").reduce((inner, name) => inner[name], value);

/** Where what was found lacks what is expected; "*" is anything that is there. */
function differs(found, expected, place = "it") {
  if (expected === "*") return found === null || found === undefined ? `${place} is nothing` : null;
  if (expected && typeof expected === "object" && found && typeof found === "object") {
    if (Array.isArray(expected) && found.length !== expected.length) return `${place} has ${found.length} instead of ${expected.length}`;
    for (const [name, inner] of Object.entries(expected)) {
      const problem = differs(found[name] ?? null, inner, `${place}.${name}`);
      if (problem) return problem;
    }
    return null;
  }
  return found === expected ? null : `${place}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`;
}

function makeClient(test) {
  const own = test.key === "integration" ? environment.PILLARBOX_INTEGRATION_KEY : environment.PILLARBOX_KEY;
  const retry = { tries: test.tries ?? 5, pause: 0.01, lookUpPause: 0.05 };
  return new Client({ baseUrl: PROXY, key: test.key?.startsWith("pk_") ? test.key : own, retry });
}

async function call(client, { do: name, with: given = {}, take }) {
  if (name === "scan_card") return scanCard();
  if (name === "verify_webhook") return verifyWebhook(given);
  const options = Object.fromEntries(Object.entries(given).map(([argument, value]) => [camel(argument), value]));
  const result = client[camel(name)](options);
  if (!(Symbol.asyncIterator in result)) return result;
  const items = [];
  for await (const item of result) {
    items.push(item);
    if (items.length === take) break;
  }
  return items;
}

async function runCase(test, known) {
  await callProxy("/_faults", fill(test.faults ?? [], known));
  const client = makeClient(test);
  for (const [at, unfilled] of test.steps.entries()) {
    const step = fill(unfilled, known);
    let found;
    try {
      found = normalise(await call(client, step));
      for (let times = 0; step.until && times < UNTIL && differs(found, step.expect); times += 1) {
        await new Promise((resolve) => setTimeout(resolve, UNTIL_PAUSE));
        found = normalise(await call(client, step));
      }
    } catch (error) {
      if (!(error instanceof PillarboxError)) throw error;
      found = describeError(error);
    }
    for (const [name, path] of Object.entries(step.save ?? {})) known[name] = pick(found, path);
    const problem = "expect" in step ? differs(found, step.expect) : null;
    if (problem) fail(`step ${at + 1}: ${problem}; found ${JSON.stringify(found).slice(0, 2000)}`);
  }
  const seen = await callProxy("/_seen");
  const problem = test.seen ? differs(seen, fill(test.seen, known), "seen") : null;
  if (problem) fail(`${problem}; seen ${JSON.stringify(seen.map(({ method, path, key }) => [method, path, key]))}`);
  const posts = new Set(seen.filter(({ method }) => method !== "GET").map(({ path, key, body }) => JSON.stringify([path, key, body])));
  if (test.same_bytes && posts.size !== 1) fail(`${posts.size} different requests`);
}

checkOperations();
const failures = [];
for (const [number, test] of CASES.entries()) {
  const known = { campaign: environment.PILLARBOX_CAMPAIGN, run: randomUUID(), big: "x".repeat(BIG) };
  known.later = new Date(Date.now() + LATER * 86_400_000).toISOString().slice(0, 10);
  for (let at = 0; at < 10; at += 1) known[`house${at}`] = Number(environment.PILLARBOX_HOUSE) + 10 * number + at;
  try {
    await runCase(test, known);
  } catch (error) {
    failures.push(`${test.name}: ${error.name}: ${error.message}`);
  }
}
if (failures.length > 0) console.log(failures.join("\n"));
console.log(`${CASES.length - failures.length} of ${CASES.length} cases passed`);
process.exitCode = failures.length > 0 ? 1 : 0;
