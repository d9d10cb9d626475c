// The inference service on PostgreSQL: the same answers, and nothing lost with the server. Several gateways share the
// database; on a SQLite file a second one does not start.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '@strata/gateway/store';
import { verifyAnswer } from '@strata/receipts';
import { tinyChatModel } from '@strata/testnet';
import OpenAI from 'openai';
import { type ProcessOptions, spawnStrata } from '../../../services/cli/src/test/run-strata.ts';
import { type Harness, type Json, MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { startPostgres } from '../../support/database/postgres.ts';
import { temporaryDirectory, until, untilAnswer } from '../../support/index.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../support/network/cluster.ts';
import { PROXIES, startProxy } from '../../support/network/proxies.ts';
import { streamOf } from '../../support/network/streams.ts';

const CHAT = '/v1/chat/completions';
const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

const start = (url: string, settings = {}) => startHarness({ STRATA_INFERENCE_DATABASE_URL: url, ...settings });
const ask = (service: Harness) => service.post(CHAT, question);
const isOk = ({ status }: { readonly status: number }) => status === 200;

for (const program of ['nginx', 'haproxy'] as const)
  if (!PROXIES.includes(program)) it(`gateways behind ${program}`, { skip: `${program} is not installed` }, () => {});

/** `strata inference gateway`, with a new directory by default. */
async function runGateway(databaseUrl: string, options: ProcessOptions = {}, data?: string) {
  await using directory = await temporaryDirectory();
  const own = { STRATA_DATA: data ?? directory.path, STRATA_INFERENCE_PORT: '0', STRATA_MODEL: tinyChatModel };
  const env = { ...own, STRATA_INFERENCE_DATABASE_URL: databaseUrl };
  return await spawnStrata(['inference', 'gateway'], { env, ...options });
}
/** The same, ended when it is ready, if ever. */
const startSecond = (url: string, data?: string) => runGateway(url, { interruptAt: /"msg":"ready"/ }, data);

it('a second gateway does not start on the SQLite file of another, and says what to do; later it does', async () => {
  await using directory = await temporaryDirectory();
  const url = `sqlite:${path.join(directory.path, 'inference.db')}`;
  {
    await using first = await start(url, { STRATA_DATA: directory.path });
    const { code, stderr } = await startSecond(url);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /strata: another gateway uses this database: .*STRATA_INFERENCE_DATABASE_URL/);
    assert.doesNotMatch(stderr, /^ +at /m);
    assert.equal((await ask(first)).status, 200);
  }
  const later = await startSecond(url, directory.path);
  assert.match(later.stderr, /"msg":"ready"/);
});

describe('gateways of one PostgreSQL database', { skip: postgres.skip }, () => {
  it('share keys, quotas, receipts and workers; when one is killed, no new request through a proxy fails, and another settles what it has left', async () => {
    const url = await postgres.empty();
    await using cluster = await Cluster.open();
    const settings = { STRATA_INFERENCE_DATABASE_URL: url, STRATA_TRUSTED_PROXIES: '127.0.0.1' };
    const a = await cluster.startGateway({ name: 'a', settings });
    const [from, to] = ['a', 'b'].map((name) => path.join(cluster.directory, name, 'inference/keys'));
    await cp(from ?? '', to ?? '', { recursive: true });
    const b = await cluster.startGateway({ name: 'b', settings });
    await cluster.startWorker({ simulated: { tokensPerSecond: 20, slots: 8 }, join: [a.ready.joinToken] });
    for (const gateway of [a, b]) await workersServing(gateway, 1);
    await using store = await openStore(url);
    const limited = await store.keys.create({ tier: 'free' });
    const { key, stored } = await store.keys.create({ tier: 'free' });
    const ask = (at: GatewayProcess, more: object, by = key) => {
      const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ model: 'simulated', prompt: [300, 500], max_tokens: 2, ...more });
      return fetch(`${at.ready.base}/v1/completions`, { method: 'POST', headers, body });
    };
    const receiptOf = async (at: GatewayProcess, answer: Response, by = key): Promise<Json> => {
      const get = (target: string) => fetch(at.ready.base + target, { headers: { authorization: `Bearer ${by}` } });
      const target = `/v1/receipts/${answer.headers.get('x-receipt-id')}`;
      const receipt: Json = await (await untilAnswer('its receipt', () => get(target), isOk)).json();
      const keySet: Json = await (await get(receipt.provenance.public_key_url)).json();
      const entered = await get(`/ledger/receipts/${receipt.provenance.ledger_receipt_id}`);
      assert.ok((await verifyAnswer(receipt, { keySet, ledgerReceipt: (await entered.json()) as Json })).ok);
      return receipt;
    };

    await store.quota.take(limited.stored.id, new Date().toISOString().slice(0, 10), 50, 45);
    const asked = Array.from({ length: 64 }, (_, n) => ask(n % 2 ? a : b, {}, limited.key));
    const answers = (await Promise.all(asked)).filter(isOk);
    assert.equal(answers.length, 5);
    for (const answer of answers) for (const gateway of [a, b]) await receiptOf(gateway, answer, limited.key);
    await store.keys.revoke(limited.stored.id);
    // Each gateway queries the database four times a second.
    const isRefused = ({ status }: Response) => status === 401;
    for (const gateway of [a, b]) await untilAnswer('refused', () => ask(gateway, {}, limited.key), isRefused);

    const stream = await ask(a, { stream: true, max_tokens: 1_000 });
    await stream.body?.getReader().read();
    const used = () => store.tokens.used({ keyId: stored.id, day: '2000-01-01' });
    assert.ok((await used()) >= 1_002, 'prompt and answer are reserved');

    await using proxies = new AsyncDisposableStack();
    let killed: Promise<void> | undefined;
    const counts = { completed: 0, broken: 0, failed: 0 };
    const load = PROXIES.map(async (program) => {
      const base = await startProxy(proxies, program, {
        directory: cluster.directory,
        ports: [a, b].map(({ ready }) => ready.port),
      });
      await untilAnswer(program, () => fetch(`${base}/health`).catch(() => undefined));
      // With its default retries.
      const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: a.ready.key });
      for (let after = 0; after < 20; after += killed ? 1 : 0) {
        const isBefore = killed === undefined;
        const isDone = await streamOf(client, { prompt: [300, 500], seed: 1, tokens: 2 }).then(
          () => true,
          () => false,
        );
        counts[isDone ? 'completed' : isBefore ? 'broken' : 'failed'] += 1;
      }
    });
    await until(() => counts.completed >= 10 || PROXIES.length === 0, { what: 'requests through the proxies' });
    killed = a.kill();
    await Promise.all([killed, ...load]);
    assert.ok(counts.failed === 0 && counts.broken <= PROXIES.length, JSON.stringify(counts));
    const usage = { prompt_tokens: 2, cached_tokens: 0, completion_tokens: 0 };
    assert.partialDeepStrictEqual(await receiptOf(b, stream), { outcome: 'interrupted', usage });
    await until(async () => (await used()) === 2, { what: 'the reservation has ended' });
    assert.equal((await ask(b, {})).status, 200);
  });
});

describe('the inference service on PostgreSQL', { skip: postgres.skip }, () => {
  const receiptOf = (service: Harness, id: string) => service.get(`/v1/receipts/${id}`);

  it('says that its database is away, and goes on when it is back, with every receipt that it gave out', async () => {
    // Its own server: this one is killed.
    await using own = await startPostgres();
    await using service = await start(await own.fresh());
    const first = await ask(service);
    assert.equal(first.status, 200);
    await own.kill();
    const away = await ask(service);
    assert.deepEqual([away.status, away.body.error.code], [503, 'storage_unavailable'], away.text);
    assert.ok(Number(away.headers.get('retry-after')) > 0);
    assert.doesNotMatch(away.text, /postgres|ECONN|127\.0\.0\.1/);
    await own.start();
    const back = await untilAnswer('an answer', () => ask(service), isOk);
    for (const { headers } of [first, back]) {
      const id = headers.get('x-receipt-id') ?? '';
      const receipt = await untilAnswer('its receipt', () => receiptOf(service, id), isOk);
      assert.equal(receipt.body.provenance.receipt_id, id);
    }
  });
});
