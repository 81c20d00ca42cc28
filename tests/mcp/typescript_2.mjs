// Runs a plan through the TypeScript SDK of version 2; see plan.mjs.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { requestInit, run, url } from './plan.mjs';

// It asks for the newest revision first, and must find out by itself that the servers speak an older one.
const client = new Client({ name: 'pillarbox-tests', version: '1' }, { versionNegotiation: { mode: 'auto' } });

await run(client, new StreamableHTTPClientTransport(url, { requestInit }), (params, options) =>
  client.callTool(params, options),
);
