// Mails one card: node send_card.js CAMPAIGN, with PILLARBOX_URL and PILLARBOX_KEY (a Full access key).

import process from "node:process";
import { ApiError, Client } from "pillarbox";

const client = new Client({ baseUrl: process.env["PILLARBOX_URL"] ?? "", key: process.env["PILLARBOX_KEY"] ?? "" });
const nina = { reference: "order-1", first_name: "Nina", address_1: "102 Congress Ave", city: "Austin", state: "TX", zip: "78701" };
try {
  const { body, costCents, requestId } = await client.sendRecipients({ campaignId: process.argv[2] ?? "", recipients: [nina] });
  for (const { status, reason, detail } of body.results) {
    // `mailed`, or `not_mailed` with a reason such as `duplicate_recent`.
    console.log(status, reason ?? "", detail, `cost ${costCents} cents, request ${requestId}`);
  }
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  // Nothing was mailed or charged. The code says why, `pillarbox explain` what to do.
  console.error(error.message);
  process.exitCode = 1;
}
