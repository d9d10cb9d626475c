// Traces as a collector receives them: services as processes of their own, OTLP over a real socket.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { runStrata, spawnStrata } from '../../../services/cli/src/test/run-strata.ts';
import { fakeService, freePort, temporaryDirectory, until } from '../../support/index.ts';

type Attributes = readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
type Span = Readonly<Record<'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'service', string>> & {
  readonly attributes: Attributes;
};

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp, as JSON. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const textOf = (attributes: Attributes, key: string) =>
  attributes.find((each) => each.key === key)?.value.stringValue ?? '';

async function startCollector() {
  const spans: Span[] = [];
  const asked = { count: 0, header: '' };
  const { base, ...service } = await fakeService(async (request, response) => {
    asked.count += 1;
    asked.header = String(request.headers['x-tenant']);
    assert.equal(request.url, '/v1/traces');
    for (const { resource, scopeSpans } of ((await json(request)) as Export).resourceSpans)
      for (const { spans: some } of scopeSpans)
        spans.push(...some.map((span) => ({ ...span, service: textOf(resource.attributes, 'service.name') })));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...service, spans, asked, env: { OTEL_EXPORTER_OTLP_ENDPOINT: base } };
}

/** Prints on standard error which modules of the SDK are loaded. */
const PRINTS_MODULES = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (/opentelemetry.(?:sdk|exporter|core)/.test(name)) process.stderr.write('loaded ' + name + '\\n');
      return next(name, context);
    },
  });
`)}`;

/** Runs the stack service, and `whileAt` with its address; ends it in order. What it printed. */
async function runStack(env: Readonly<Record<string, string>>, whileAt: (base: string) => Promise<void>) {
  await using data = await temporaryDirectory();
  const settings = {
    ...{ STRATA_DATA: data.path, STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', NODE_OPTIONS: PRINTS_MODULES },
    // Connections there are refused at once.
    ...{ STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_RESOLVERS: '127.0.0.1:9' },
  };
  const { stderr } = await spawnStrata(['stack', 'serve'], {
    env: { ...settings, ...env },
    interruptAt: /"url":"(http:[^"]+)\/"/,
    whileAt: ({ matched }) => whileAt(matched[1] ?? ''),
  });
  return stderr;
}

it('traces of a request hang below the caller’s span, with its transactions and the ledger', async () => {
  await using collector = await startCollector();
  const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${parentId}-01`;
  let key = '';
  const own = { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' };
  const env = { ...collector.env, ...own, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ours' };
  const printed = await runStack(env, async (base) => {
    const made = await fetch(`${base}/keys`, { method: 'POST', headers: { traceparent } });
    assert.equal(made.status, 201);
    ({ key } = (await made.json()) as { key: string });
    const headers = { traceparent, 'x-stack-key': key };
    assert.equal((await fetch(`${base}/stack/v1/stats`, { headers })).status, 200);
    await fetch(`${base}/stack/v1/domains/example.com`, { headers });
  });
  assert.match(printed, /^loaded @opentelemetry\/sdk-trace$/m);

  const ours = collector.spans.filter((span) => span.traceId === traceId);
  const [stats] = ours.filter(({ name }) => name === 'GET /stack/v1/stats');
  assert.deepEqual([stats?.parentSpanId, stats?.service], [parentId, 'strata-stack']);
  const below = (name: string, parent: Span | undefined) =>
    ours.filter((span) => span.name === name && span.parentSpanId === parent?.spanId);
  assert.equal(below('ledger commit', stats).length, 1, 'the answer is signed below its request');
  const [profile] = ours.filter(({ name }) => name === 'GET /stack/v1/domains/:domain');
  assert.equal(textOf(below('scan', profile)[0]?.attributes ?? [], 'strata.domain'), 'example.com');
  const isTraced = collector.spans.some(({ name }) => name === 'transaction');
  assert.ok(isTraced, 'transactions are traced');
  assert.equal(collector.asked.header, 'ours');
  assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(key));
});

it('traces of chat completions go on in the worker', async () => {
  await using collector = await startCollector();
  await using directory = await temporaryDirectory();
  const [port, p2p] = [await freePort(), await freePort()];
  const dataOf = (name: string) => ({ STRATA_DATA: path.join(directory.path, name) });
  const ofGateway = { STRATA_INFERENCE_PORT: String(port), STRATA_P2P: `listen=/ip4/127.0.0.1/tcp/${p2p},mdns=off` };
  const ofWorker = { STRATA_MODEL: tinyChatModel, STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off' };
  const traceId = randomBytes(16).toString('hex');
  const messages = [{ role: 'user', content: 'DMARC?' }];
  const ask = async () => {
    const create = ['inference', 'keys', 'create', '--tier', 'unlimited', '--json'];
    const { key } = JSON.parse((await runStrata(create, { env: dataOf('gateway') })).stdout) as { key: string };
    const base = `http://127.0.0.1:${port}`;
    // The model is there within moments of its worker.
    await until(async () => (await fetch(`${base}/ready`)).status === 200, { limitMs: 120_000, intervalMs: 50 });
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ model: 'strata-tiny-chat', max_tokens: 4, messages }),
    });
    assert.equal(answer.status, 200, await answer.text());
  };
  await spawnStrata(['inference', 'gateway', '--network'], {
    env: { ...collector.env, ...dataOf('gateway'), ...ofGateway },
    interruptAt: /--join (strata1\S+)\n/,
    whileAt: ({ matched }) =>
      spawnStrata(['inference', 'worker', '--join', matched[1] ?? ''], {
        env: { ...collector.env, ...dataOf('worker'), ...ofWorker },
        interruptAt: /serving gateway/,
        whileAt: ask,
      }),
  });

  const ours = collector.spans.filter((span) => span.traceId === traceId);
  const one = (name: string) => ours.find((span) => span.name === name);
  assert.equal(one('POST /v1/chat/completions')?.parentSpanId, 'b7ad6b7169203331');
  assert.equal(one('worker')?.parentSpanId, one('POST /v1/chat/completions')?.spanId);
  assert.equal(one('segment')?.parentSpanId, one('worker')?.spanId);
  assert.deepEqual([one('worker')?.service, one('segment')?.service], ['strata-gateway', 'strata-worker']);
});

it('traces are sent nowhere, and cost no code, unless they are asked for', async () => {
  await using collector = await startCollector();
  for (const env of [{}, { ...collector.env, OTEL_SDK_DISABLED: 'true' }])
    assert.doesNotMatch(await runStack(env, async (base) => void (await fetch(`${base}/health`))), /^loaded /m);
  assert.equal(collector.asked.count, 0);
});
