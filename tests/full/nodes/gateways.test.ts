// The inference service on PostgreSQL: the same answers, and nothing lost with the server. Several gateways share the
// database; on a SQLite file a second one does not start.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
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
import { root } from '../../support/deployed.ts';
import { endProcess } from '../../support/end-process.ts';
import { freePort } from '../../support/free-port.ts';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { streamOf } from '../../support/network/streams.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until, untilAnswer } from '../../support/until.ts';

const CHAT = '/v1/chat/completions';
const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

const start = (url: string, settings = {}) => startHarness({ STRATA_INFERENCE_DATABASE_URL: url, ...settings });
const ask = (service: Harness) => service.post(CHAT, question);
const isOk = ({ status }: { readonly status: number }) => status === 200;

/** Those that are installed. */
const PROXIES = (['nginx', 'haproxy'] as const).filter((program) => spawnSync(program, ['-v']).status === 0);

/** nginx or HAProxy with its file of deploy/proxy, in front of gateways at these ports; returns its address. */
async function startProxy(
  stack: AsyncDisposableStack,
  program: 'nginx' | 'haproxy',
  { directory, ports }: { readonly directory: string; readonly ports: readonly number[] },
): Promise<string> {
  const [port, site] = [await freePort(), path.join(directory, program)];
  const name = program === 'nginx' ? 'nginx.conf' : 'haproxy.cfg';
  const text = (await readFile(path.join(root, 'deploy/proxy', name), 'utf8'))
    .replaceAll(/10\.0\.0\.([123]):8788/g, (_, n) => `127.0.0.1:${ports[n % ports.length]}`)
    .replace(/\b8080\b/, String(port));
  await writeFile(site, text);
  await writeFile(`${site}.main`, `daemon off; pid ${site}.pid; events {} http { access_log off; include ${site}; }`);
  const args = program === 'nginx' ? ['-e', `${site}.log`, '-c', `${site}.main`] : ['-db', '-f', site];
  const child = spawn(program, args, { stdio: 'ignore' });
  stack.defer(() => endProcess(child, 5_000));
  return `http://127.0.0.1:${port}`;
}

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
  /** Two gateways with the same signing keys, and what settings they share. */
  async function pair(url: string) {
    await using stack = new AsyncDisposableStack();
    const [a, b] = [stack.use(await temporaryDirectory()).path, stack.use(await temporaryDirectory()).path];
    const one = stack.use(await start(url, { STRATA_DATA: a }));
    await cp(path.join(a, 'inference/keys'), path.join(b, 'inference/keys'), { recursive: true });
    const two = stack.use(await start(url, { STRATA_DATA: b }));
    return Object.assign(stack.move(), { one, two, directories: [a, b] as const });
  }
  const by = (key: string) => ({ authorization: `Bearer ${key}` });

  it('give the same receipts, refuse a key that one of them revoked, and count its quota together', async () => {
    const url = await postgres.empty();
    await using gateways = await pair(url);
    const { one, two } = gateways;
    const { keys } = one.running.gateway;
    const { key, stored } = await keys.create({ tier: 'free' });
    await using store = await openStore(url);
    await store.quota.take(stored.id, new Date().toISOString().slice(0, 10), 50, 45);
    const asked = Array.from({ length: 64 }, (_, n) => (n % 2 ? one : two).post(CHAT, question, by(key)));
    const answers = await Promise.all(asked);
    assert.equal(answers.filter(isOk).length, 5);
    const { headers } = answers.find(isOk) ?? assert.fail();
    for (const service of [one, two]) {
      const receipt = await service.get(`/v1/receipts/${headers.get('x-receipt-id')}`, by(key));
      const { body: keySet } = await service.get(receipt.body.provenance.public_key_url);
      const { body } = await service.get(`/ledger/receipts/${receipt.body.provenance.ledger_receipt_id}`);
      assert.ok((await verifyAnswer(receipt.body, { keySet, ledgerReceipt: body })).ok);
    }
    assert.ok(await keys.revoke(stored.id));
    // Both query the database four times a second.
    const refused = () => two.post(CHAT, question, by(key));
    await untilAnswer('the key is refused', refused, ({ status }) => status === 401);
  });
});

describe('gateways of one PostgreSQL database and network', { skip: postgres.skip }, () => {
  it('share a worker that joined one of them; when that one is killed behind nginx and HAProxy, no new request fails, and another gateway settles what it has left', async () => {
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
    const { key, stored } = await store.keys.create({ tier: 'free' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const complete = (base: string, more: object) =>
      fetch(`${base}/v1/completions`, {
        ...{ method: 'POST', headers },
        body: JSON.stringify({ model: 'simulated', prompt: [300, 500], ...more }),
      });
    const stream = await complete(a.ready.base, { stream: true, max_tokens: 1_000 });
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
    const target = `${b.ready.base}/v1/receipts/${stream.headers.get('x-receipt-id')}`;
    const response = await untilAnswer('its receipt', () => fetch(target, { headers }), isOk);
    const receipt = (await response.json()) as Json;
    const usage = { prompt_tokens: 2, cached_tokens: 0, completion_tokens: 0 };
    assert.partialDeepStrictEqual(receipt, { outcome: 'interrupted', usage });
    const get = async (at: string) => (await fetch(b.ready.base + at)).json() as Json;
    const keySet = await get(receipt.provenance.public_key_url);
    const ledgerReceipt = await get(`/ledger/receipts/${receipt.provenance.ledger_receipt_id}`);
    assert.ok((await verifyAnswer(receipt, { keySet, ledgerReceipt })).ok);
    await until(async () => (await used()) === 2, { what: 'the reservation has ended' });
    assert.equal((await complete(b.ready.base, { max_tokens: 2 })).status, 200);
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
