// Receives deliveries and checks their signatures: node receive_webhook.js PORT, with PILLARBOX_WEBHOOK_SECRET (whsec_…). It listens on
// this machine alone: put a server that speaks https before it.

import { createServer } from "node:http";
import process from "node:process";
import { verifyWebhook, WebhookError } from "pillarbox";

const secret = process.env["PILLARBOX_WEBHOOK_SECRET"] ?? "";
// Ids that came before. Keep yours in a database: deliveries come at least once, for days.
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  let body = "";
  // The signature is of the bytes as they came.
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  try {
    const event = await verifyWebhook({ body, headers: request.headers, secret });
    // Answer first, work afterwards: ten seconds are the limit.
    response.writeHead(204).end();
    if (!seen.has(event.id)) console.log(event.id, event.campaign.id, event.recipient.first_name, event.destination);
    seen.add(event.id);
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.log(`refused: ${error.message}`);
    response.writeHead(400).end();
  }
});
server.listen(Number(process.argv[2]), "127.0.0.1");
