// Runs a plan against an MCP server through a client of the TypeScript SDK; each version has a program of its
// own. Steps and results are those of plan.py.

// A step that takes longer is a failure: the servers answer within 25 seconds.
const STEP_MILLISECONDS = 40_000;

export const url = new URL(process.env.MCP_URL);

export const requestInit = { headers: { Authorization: `Bearer ${process.env.MCP_KEY}` } };

const options = { timeout: STEP_MILLISECONDS };

function write(result) {
  console.log(JSON.stringify(result));
}

async function readPlan() {
  let text = '';
  for await (const piece of process.stdin) text += piece;
  return JSON.parse(text);
}

/** Connects, does every step and closes; `callTool` is the version's way to call a tool. */
export async function run(client, transport, callTool) {
  const plan = await readPlan();
  try {
    await client.connect(transport, options);
  } catch (error) {
    write({ refused: `${error.name}: ${error.message}` });
    process.exit();
  }
  for (const step of plan) {
    try {
      write(await take(client, transport, callTool, step));
    } catch (error) {
      write({ error: { code: error.code ?? null, message: error.message } });
    }
  }
  await client.close();
}

async function take(client, transport, callTool, step) {
  switch (step.do) {
    case 'initialize':
      return {
        version: transport.protocolVersion,
        server: client.getServerVersion().name,
        instructions: client.getInstructions(),
      };
    case 'ping':
      await client.ping(options);
      return { pong: true };
    case 'list': {
      const { tools } = await client.listTools(undefined, options);
      return { tools: tools.map((tool) => tool.name) };
    }
    case 'call': {
      const result = await callTool({ name: step.name, arguments: step.arguments }, options);
      return { isError: result.isError ?? false, content: result.structuredContent, text: result.content[0].text };
    }
    default:
      throw new Error(`no such step: ${step.do}`);
  }
}
