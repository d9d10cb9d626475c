// The inference service with its keys, counts and receipts in PostgreSQL: the same answers, and nothing lost with the server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@strata/store';
import { binaries, notice, type PostgresServer, startPostgres } from '../../../packages/store/src/test/postgres.ts';
import { type Harness, MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';

const STRATA = path.join(import.meta.dirname, '../../../services/cli/src/main.ts');
const CHAT = '/v1/chat/completions';
const messages = [{ role: 'user', content: 'What is DMARC?' }];
const PATIENCE_MS = 60_000;

describe('the inference service on PostgreSQL', { skip: binaries ? false : notice }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.[Symbol.asyncDispose]());

  const start = (url: string) => startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
  const receiptOf = (service: Harness, id: string) => service.get(`/v1/receipts/${id}`);

  it('answers many at once, and has a receipt and a count of each', async () => {
    const url = await server.fresh();
    const receipts: string[] = [];
    {
      await using service = await start(url);
      const answers = await Promise.all(
        Array.from({ length: 24 }, () => service.post(CHAT, { model: MODEL, messages, max_tokens: 4 })),
      );
      for (const { status, headers, text: body } of answers) {
        assert.equal(status, 200, body);
        const id = headers.get('x-receipt-id') ?? '';
        const receipt = await receiptOf(service, id);
        assert.equal(receipt.status, 200, receipt.text);
        assert.equal(receipt.body.provenance.receipt_id, id);
        receipts.push(id);
      }
      assert.equal(new Set(receipts).size, answers.length);
      assert.equal(service.running.gateway.ledger.log.size, answers.length);
    }
    await using store = await openStore(url, { keyPrefix: 'sk-' });
    assert.deepEqual(await store.answers.unentered(10), []);
    assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, receipts.length);
  });

  it('counts the requests of a limited key exactly, however many come at once', async () => {
    await using service = await start(await server.fresh());
    const { key } = await service.running.gateway.keys.create({ tier: 'free' });
    const headers = { authorization: `Bearer ${key}` };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => service.post(CHAT, { model: MODEL, messages, max_tokens: 1 }, headers)),
    );
    // Twenty a minute: docs/inference.md.
    const served = answers.filter(({ status }) => status === 200);
    assert.equal(served.length, 20);
    assert.ok(answers.every(({ status }) => status === 200 || status === 429));
  });

  it('says that its database is away, and goes on when it is back, with every receipt that it gave out', async () => {
    await using service = await start(await server.fresh());
    const first = await service.post(CHAT, { model: MODEL, messages, max_tokens: 4 });
    assert.equal(first.status, 200);
    await server.kill();
    const away = await service.post(CHAT, { model: MODEL, messages, max_tokens: 4 });
    assert.deepEqual([away.status, away.body.error.code], [503, 'storage_unavailable'], away.text);
    assert.ok(Number(away.headers.get('retry-after')) > 0);
    assert.doesNotMatch(away.text, /postgres|ECONN|127\.0\.0\.1/);
    await server.start();
    const back = await until(async () => {
      const answer = await service.post(CHAT, { model: MODEL, messages, max_tokens: 4 });
      return answer.status === 200 ? answer : undefined;
    });
    for (const { headers } of [first, back]) {
      const id = headers.get('x-receipt-id') ?? '';
      const receipt = await until(async () => {
        const found = await receiptOf(service, id);
        return found.status === 200 ? found : undefined;
      });
      assert.equal(receipt.body.provenance.receipt_id, id);
    }
  });

  it('is reached by the commands too', async () => {
    await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-inference-'));
    const env = {
      ...process.env,
      STRATA_DATA: directory.path,
      STRATA_INFERENCE_DATABASE_URL: await server.fresh(),
    };
    const run = async (...args: string[]) => {
      const child = spawn(process.execPath, [STRATA, 'inference', ...args], { env, stdio: 'pipe' });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { out, err, code };
    };
    const made = await run('keys', 'create', '--tier', 'free');
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, /sk-/);
    assert.match((await run('keys', 'list')).out, /free/);
    assert.match((await run('network', 'accounts')).out, /no worker made anything/);
  });

  it('refuses an address that is none, without repeating it', async () => {
    const env = { ...process.env, STRATA_INFERENCE_DATABASE_URL: 'mysql://u:secret@host/x' };
    const child = spawn(process.execPath, [STRATA, 'inference', 'keys', 'list'], { env, stdio: 'pipe' });
    const [, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    assert.equal(code, 2);
    assert.match(err, /STRATA_INFERENCE_DATABASE_URL: must begin with sqlite: or postgres:/);
    assert.doesNotMatch(err, /secret|^ +at /m);
  });
});

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, 'it did not come back');
    await sleep(100);
  }
}
