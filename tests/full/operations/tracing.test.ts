// Traces as a collector receives them: services as processes of their own, OTLP over a real socket.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { freePort } from '../../../packages/store/src/test/postgres.ts';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';

const STRATA = path.join(import.meta.dirname, '../../../services/cli/src/main.ts');

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  readonly service: string;
}

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp, as JSON. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
}

const textOf = (attributes: Span['attributes'], key: string) =>
  attributes.find((each) => each.key === key)?.value.stringValue ?? '';

async function startCollector() {
  const spans: Span[] = [];
  const asked = { count: 0, header: '' };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      asked.count += 1;
      asked.header = String(request.headers['x-tenant']);
      assert.equal(request.url, '/v1/traces');
      for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans)
        for (const { spans: some } of scopeSpans)
          spans.push(...some.map((span) => ({ ...span, service: textOf(resource.attributes, 'service.name') })));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Tells on standard error what of the SDK is loaded. */
const TELLS = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (/opentelemetry.(?:sdk|exporter|core)/.test(name)) process.stderr.write('loaded ' + name + '\\n');
      return next(name, context);
    },
  });
`)}`;

interface Started {
  readonly child: ChildProcess;
  readonly said: () => string;
  stop(): Promise<void>;
}

/** Resolves when it says that it is ready. */
async function start(args: readonly string[], env: Readonly<Record<string, string>>, ready: RegExp): Promise<Started> {
  const child = spawn(process.execPath, [STRATA, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const exit = once(child, 'exit');
  const isReady = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (ready.test(said)) resolve();
      });
    void exit.then(() => reject(new Error(`it ended: ${said}`)));
  });
  isReady.catch(() => {});
  await isReady;
  return {
    child,
    said: () => said,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

describe('traces', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'strata-tracing-'));
  });
  after(() => rm(directory, { recursive: true }));

  const stackSettings = async () => ({
    STRATA_DATA: path.join(directory, randomBytes(4).toString('hex')),
    STRATA_STACK_PORT: String(await freePort()),
    STRATA_METRICS_PORT: '0',
    STRATA_SCAN: 'off',
    STRATA_ADVISORIES: 'off',
    // Nobody answers there, and at once.
    STRATA_RESOLVERS: '127.0.0.1:9',
  });

  it('of a request hang below the caller’s span, with its transactions and the ledger', async () => {
    await using collector = await startCollector();
    const settings = await stackSettings();
    const service = await start(
      ['stack', 'serve'],
      {
        ...settings,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ours',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        NODE_OPTIONS: TELLS,
      },
      /"msg":"ready"/,
    );
    const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const base = `http://127.0.0.1:${settings.STRATA_STACK_PORT}`;
    const traceparent = `00-${traceId}-${parentId}-01`;
    const made = await fetch(`${base}/keys`, { method: 'POST', headers: { traceparent } });
    assert.equal(made.status, 201);
    const { key } = (await made.json()) as { key: string };
    const headers = { traceparent, 'x-stack-key': key };
    assert.equal((await fetch(`${base}/stack/v1/stats`, { headers })).status, 200);
    await fetch(`${base}/stack/v1/domains/example.com`, { headers });
    await service.stop();
    assert.match(service.said(), /^loaded @opentelemetry\/sdk-trace$/m);

    const ours = collector.spans.filter((span) => span.traceId === traceId);
    const [stats] = ours.filter(({ name }) => name === 'GET /stack/v1/stats');
    assert.equal(stats?.parentSpanId, parentId);
    assert.equal(stats?.service, 'strata-stack');
    const below = (name: string, parent: Span | undefined) =>
      ours.filter((span) => span.name === name && span.parentSpanId === parent?.spanId);
    assert.equal(below('ledger commit', stats).length, 1, 'the answer is signed below its request');
    const [profile] = ours.filter(({ name }) => name === 'GET /stack/v1/domains/:domain');
    assert.equal(textOf(below('scan', profile)[0]?.attributes ?? [], 'strata.domain'), 'example.com');
    assert.ok(
      collector.spans.some(({ name }) => name === 'transaction'),
      'transactions are traced',
    );
    assert.equal(collector.asked.header, 'ours');
    assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(key));
  });

  it('of chat completions go on in the worker', async () => {
    await using collector = await startCollector();
    const [port, p2p] = [await freePort(), await freePort()];
    const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const data = path.join(directory, 'inference');
    const gateway = await start(
      ['inference', 'gateway', '--network'],
      {
        ...otel,
        STRATA_DATA: data,
        STRATA_INFERENCE_PORT: String(port),
        STRATA_P2P_LISTEN: `/ip4/127.0.0.1/tcp/${p2p}`,
        STRATA_MDNS: 'off',
      },
      /--join strata1\S+\n/,
    );
    const token = /--join (strata1\S+)/.exec(gateway.said())?.[1] ?? '';
    const worker = await start(
      ['inference', 'worker', '--join', token],
      {
        ...otel,
        STRATA_DATA: path.join(directory, 'worker'),
        STRATA_MODEL: tinyChatModel,
        STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0',
        STRATA_MDNS: 'off',
      },
      /serving gateway/,
    );
    const made = await runStrata(['inference', 'keys', 'create', '--tier', 'unlimited', '--json'], {
      env: { STRATA_DATA: data },
    });
    const { key } = JSON.parse(made.stdout) as { key: string };
    const base = `http://127.0.0.1:${port}`;
    // The model is there within moments of its worker.
    for (const deadline = Date.now() + 120_000; (await fetch(`${base}/ready`)).status !== 200; ) {
      assert.ok(Date.now() < deadline, 'the model of the worker is served');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const traceId = randomBytes(16).toString('hex');
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({
        model: 'strata-tiny-chat',
        max_tokens: 4,
        messages: [{ role: 'user', content: 'DMARC?' }],
      }),
    });
    assert.equal(answer.status, 200, await answer.text());
    await worker.stop();
    await gateway.stop();

    const ours = collector.spans.filter((span) => span.traceId === traceId);
    const one = (name: string) => ours.find((span) => span.name === name);
    assert.equal(one('POST /v1/chat/completions')?.parentSpanId, 'b7ad6b7169203331');
    assert.equal(one('worker')?.parentSpanId, one('POST /v1/chat/completions')?.spanId);
    assert.equal(one('segment')?.parentSpanId, one('worker')?.spanId);
    assert.deepEqual([one('worker')?.service, one('segment')?.service], ['strata-gateway', 'strata-worker']);
  });

  it('are sent nowhere, and cost no code, unless they are asked for', async () => {
    await using collector = await startCollector();
    for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' }]) {
      const settings = await stackSettings();
      const service = await start(['stack', 'serve'], { ...settings, ...env, NODE_OPTIONS: TELLS }, /"msg":"ready"/);
      await fetch(`http://127.0.0.1:${settings.STRATA_STACK_PORT}/health`);
      await service.stop();
      assert.doesNotMatch(service.said(), /^loaded /m);
    }
    assert.equal(collector.asked.count, 0);
  });
});
