// Runs a plan through the TypeScript SDK of version 1; see plan.mjs.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { requestInit, run, url } from './plan.mjs';

const client = new Client({ name: 'pillarbox-tests', version: '1' });

await run(client, new StreamableHTTPClientTransport(url, { requestInit }), (params, options) =>
  client.callTool(params, undefined, options),
);
