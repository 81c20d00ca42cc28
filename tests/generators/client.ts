// Calls a running gateway with nothing but the generated types: client.js URL FULL_ACCESS_KEY INTEGRATION_KEY
import type { components, paths } from './pillarbox.js';

type Send = paths['/api/v1/recipients']['post'];
type SendBody = Send['requestBody']['content']['application/json'];
type SendAnswer = Send['responses'][200]['content']['application/json'];
type SendFailure = Send['responses'][404]['content']['application/json'];
type PushFailure = paths['/api/integrations/push/v1/sync']['patch']['responses'][409]['content']['application/json'];
type Integration = paths['/api/integrations/push/v1']['get']['responses'][200]['content']['application/json'];
type Scan = components['schemas']['QrScanned'];

declare const process: { argv: string[] };
const [url = '', key = '', integrationKey = ''] = process.argv.slice(2);

async function call<T>(method: string, path: string, bearer: string, status: number, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const init: RequestInit = { method, headers: { authorization: `Bearer ${bearer}`, ...headers } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(`${url}${path}`, init);
  if (response.status !== status) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

// Each word has its place, and no other word has: the compiler checks both.
function told(result: components['schemas']['Result']): string {
  const status: 'mailed' | 'not_mailed' | 'would_mail' = result.status;
  const postage: 'standard' | 'first_class' | undefined = result.postage;
  return result.reason === undefined ? `${status} ${postage}` : `${status} ${result.reason}`;
}

function whose(scan: Scan): string {
  const name: string | null = scan.recipient.first_name;
  return name ?? 'somebody';
}

function isReport(answer: SendAnswer): answer is components['schemas']['SendResponse'] {
  return 'notMailed' in answer.summary;
}

const body: SendBody = {
  campaign_id: 'PA-TEST01',
  recipients: [
    { reference: 'ts', first_name: 'Tess', address_1: '301 Main St', city: 'Austin', state: 'TX', zip: '78701' },
    { first_name: 'Nowhere' },
  ],
};
const answer = await call<SendAnswer>('POST', '/api/v1/recipients', key, 200, body);
if (!isReport(answer)) throw new Error('a report was asked for');
console.log(answer.results.map(told).join(', '));

const refused = await call<SendFailure>('POST', '/api/v1/recipients', key, 404, { ...body, campaign_id: 'PA-NOBODY' });
const code: components['schemas']['Error']['code'] = refused.code;
console.log(code);

const { integration } = await call<Integration>('GET', '/api/integrations/push/v1', integrationKey, 200);
console.log(integration.status);
const closed = await call<PushFailure>('PATCH', '/api/integrations/push/v1/sync', integrationKey, 409, {}, { 'idempotency-key': 'ts' });
console.log(closed.error.code, closed.error.details?.limit, typeof whose);
