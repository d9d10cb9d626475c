// Receipts of answers: verified as anyone would, of whole answers and of streams, kept through a kill, given to whom they belong.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@strata/http';
import { readAnswerContent } from '@strata/inference';
import { openSignedLedger } from '@strata/log';
import { canonicalize, verifyAnswer } from '@strata/receipts';
import { openStore } from '@strata/store';
import { Books } from './books.ts';
import { KEY_SET_PATH } from './ledger-routes.ts';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness();
});
after(() => service?.[Symbol.asyncDispose]());

const messages = [{ role: 'user', content: 'What is DMARC?' }];
const digestOf = (answer: string) => hash('sha256', canonicalize(readAnswerContent(answer)));

/** Verified from nothing but what the gateway serves to everyone. */
async function verified(receipt: Json): Promise<boolean> {
  const keySet = (await service.get(receipt.provenance.public_key_url)).body;
  const ledgerReceipt = (await service.get(`/ledger/receipts/${receipt.provenance.ledger_receipt_id}`)).body;
  return (await verifyAnswer(receipt, { keySet, ledgerReceipt })).ok;
}

async function receiptOf(headers: Headers, key = service.key): Promise<Json> {
  const id = headers.get('x-receipt-id') ?? '';
  assert.match(id, /^rwr_[0-9A-Z]{26}$/);
  const { status, body } = await service.get(`/v1/receipts/${id}`, { authorization: `Bearer ${key}` });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.provenance.receipt_id, id);
  return body;
}

describe('the receipt of an answer', () => {
  const asked: [what: string, target: string, body: Record<string, unknown>, finish: unknown[]][] = [
    ['a chat', '/v1/chat/completions', { messages, temperature: 0, n: 2 }, ['stop', 'stop']],
    ['a stream', '/v1/chat/completions', { messages, temperature: 0, n: 2, stream: true }, ['stop', 'stop']],
    ['one cut short', '/v1/chat/completions', { messages, max_tokens: 3 }, ['length']],
    [
      'completions',
      '/v1/completions',
      { prompt: ['DMARC', 'SPF'], echo: true, max_tokens: 4, temperature: 0, logit_bias: { 1023: -100 } },
      ['length', 'length'],
    ],
    ['a stream of completions', '/v1/completions', { prompt: 'DMARC', max_tokens: 4, stream: true }, ['length']],
    ['a response', '/v1/responses', { input: 'What is DMARC?', temperature: 0 }, ['stop']],
    [
      'a stream of events',
      '/v1/responses',
      { input: 'What is DMARC?', stream: true, max_output_tokens: 16 },
      ['length'],
    ],
    ['embeddings', '/v1/embeddings', { input: ['a', 'b'] }, []],
    ['embeddings in base64', '/v1/embeddings', { input: 'a', encoding_format: 'base64' }, []],
  ];
  for (const [what, target, more, finish] of asked) {
    it(`of ${what} is signed, in the ledger, and of this request and this answer`, async () => {
      const body = JSON.stringify({ model: MODEL, ...more });
      const { headers, text, status } = await service.post(target, body);
      assert.equal(status, 200, text);
      const receipt = await receiptOf(headers);
      assert.ok(await verified(receipt));
      assert.equal(receipt.request_sha256, hash('sha256', body));
      assert.equal(receipt.answer_sha256, digestOf(text));
      assert.deepEqual([receipt.outcome, receipt.endpoint, receipt.finish_reasons], ['completed', target, finish]);
      const [model] = service.running.gateway.models.list();
      assert.equal(receipt.model.sha256, model?.backend.facts.sha256);
      assert.ok(receipt.usage.prompt_tokens > 0);
      assert.ok(Date.parse(receipt.times.received_at) <= Date.parse(receipt.times.finished_at));
      assert.doesNotMatch(JSON.stringify(receipt), /DMARC|receivers/, 'no text is in it');
      assert.equal(await verified({ ...receipt, usage: { ...receipt.usage, prompt_tokens: 99 } }), false);
    });
  }

  it('has the same digest for a stream as for the whole answer', async () => {
    const ask = { model: MODEL, messages, temperature: 0 };
    const whole = await receiptOf((await service.post('/v1/chat/completions', ask)).headers);
    const stream = await receiptOf((await service.post('/v1/chat/completions', { ...ask, stream: true })).headers);
    assert.equal(whole.answer_sha256, stream.answer_sha256);
  });

  it('tells that the client left', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${service.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages, stream: true, logit_bias: { 1023: -100 } }),
      signal: leaving.signal,
    });
    for await (const _chunk of response.body ?? []) break;
    leaving.abort();
    const receipt = await eventually(() => receiptOf(response.headers));
    assert.deepEqual([receipt.outcome, receipt.finish_reasons], ['cancelled', [null]]);
    assert.ok(await verified(receipt));
  });

  it('is for the key that asked; who was refused has none', async () => {
    const { headers } = await service.post('/v1/chat/completions', { model: MODEL, messages, max_tokens: 1 });
    const id = headers.get('x-receipt-id');
    const { key } = await service.running.gateway.keys.create({ tier: 'unlimited' });
    assert.equal((await service.get(`/v1/receipts/${id}`, { authorization: `Bearer ${key}` })).status, 404);
    assert.equal((await fetch(`${service.base}/v1/receipts/${id}`)).status, 401);
    assert.equal((await service.get('/v1/receipts/rwr_none')).status, 400);
    const refused = await service.post('/v1/chat/completions', { model: MODEL, messages: [] });
    assert.equal(refused.headers.get('x-receipt-id'), null);
  });

  it('is proved by a ledger that anyone can read', async () => {
    const { headers } = await service.post('/v1/chat/completions', { model: MODEL, messages, max_tokens: 1 });
    const { provenance } = await receiptOf(headers);
    const checkpoint = await fetch(`${service.base}/ledger/checkpoint`);
    assert.match(await checkpoint.text(), /^localhost\/strata\/inference\n\d+\n/);
    const proof = await fetch(`${service.base}/ledger/receipts/${provenance.ledger_receipt_id}/proof`);
    assert.match(await proof.text(), /^c2sp\.org\/tlog-proof@v1\n/);
    assert.equal((await fetch(`${service.base}/ledger/tile/0/000.p/1`)).status, 200);
    for (const [target, status] of [
      ['/ledger/tile/0/999', 404],
      ['/ledger/tile/..%2f..%2fkeys', 404],
      ['/ledger/receipts/cr_x', 400],
      [`/ledger/receipts/cr_${'a'.repeat(32)}`, 404],
    ] as const)
      assert.equal((await fetch(service.base + target)).status, status, target);
  });

  it('and what was used are counted by key and model', async () => {
    const { key, stored } = await service.running.gateway.keys.create({ tier: 'standard' });
    const ask = () =>
      service.post(
        '/v1/chat/completions',
        { model: MODEL, messages, n: 2, max_tokens: 5 },
        { authorization: `Bearer ${key}` },
      );
    const { body } = await ask();
    const { headers } = await ask();
    // Counted a moment later; whoever asks for a receipt waits for it.
    await receiptOf(headers, key);
    const [row, ...more] = await service.running.gateway.answers.usage({ since: '2000-01-01', keyId: stored.id });
    assert.deepEqual(more, []);
    assert.deepEqual([row?.requests, row?.model], [2, MODEL]);
    assert.equal(row?.promptTokens, 2 * body.usage.prompt_tokens);
    assert.equal(row?.completionTokens, 2 * body.usage.completion_tokens);
  });
});

async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 50) throw error;
      await sleep(20);
    }
  }
}

describe('the books after a kill', () => {
  const now = () => new Date();
  const logger = createLogger({ level: 'silent' });
  const end = {
    outcome: 'completed',
    content: [],
    finishReasons: [],
    usage: { promptTokens: 1, completionTokens: 1, cachedTokens: 0 },
    firstTokenAt: undefined,
    segments: [],
  } as const;
  const start = {
    answerId: 'chatcmpl-1',
    requestId: 'req_1',
    keyId: 'key_1',
    endpoint: '/v1/chat/completions',
    model: { id: 'm', sha256: null, engine: 'e' },
    requestSha256: '00',
    receivedAt: new Date(),
  };

  it('enter everything soon, also where the ledger is slower than the answers', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-books-'));
    try {
      await using store = await openStore('sqlite::memory:', { keyPrefix: 'sk-' });
      await using ledger = await openSignedLedger({
        ...{ directory, origin: 'localhost/test', keySetPath: KEY_SET_PATH, now },
      });
      const slow = {
        ...ledger,
        log: new Proxy(ledger.log, {
          get: (log, name) =>
            name === 'append'
              ? (leaf: Uint8Array) => sleep(250).then(() => log.append(leaf))
              : Reflect.get(log, name, log),
        }),
      };
      const { segments } = store;
      await using books = await Books.open({ ledger: slow, answers: store.answers, segments, logger, now });
      for (const count of [20, 1]) {
        for (let i = 0; i < count; i += 1) {
          await books.keep(books.newId(), start, end);
          await sleep(20);
        }
        for (let i = 0; i < 100 && (await store.answers.unentered(1)).length > 0; i += 1) await sleep(20);
        assert.deepEqual(await store.answers.unentered(1), []);
      }
      assert.equal(ledger.log.size, 21);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('forget old receipts, and the proofs of what workers made; the counts stay', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-books-'));
    try {
      await using store = await openStore('sqlite::memory:', { keyPrefix: 'sk-' });
      const { segments } = store;
      const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);
      const endedAtMs = Date.now() - 1_000;
      for (const [n, at] of [endedAtMs - 86_400_000, endedAtMs].entries())
        await segments.put({
          ...{ nonce: bytes(16, n), worker: 'w', gateway: 'g', caller: 'key_1', modelSha256: 'ab'.repeat(32) },
          ...{ promptTokens: 3, cachedTokens: 0, outputTokens: 5, endedAtMs: at, receipt: bytes(300, 1) },
          ...{ workerSignature: bytes(64, 2), gatewaySignature: bytes(64, 3) },
        });
      const totals = await segments.totals({ by: 'worker' });
      await using ledger = await openSignedLedger({
        ...{ directory, origin: 'localhost/test', keySetPath: KEY_SET_PATH, now },
      });
      await using books = await Books.open({ ledger, answers: store.answers, segments, logger, now });
      await books.forget(new Date(endedAtMs - 1_000));
      const sizes = (await segments.list({ limit: 9 })).map(({ receipt }) => receipt.byteLength);
      assert.deepEqual(sizes, [300, 0]);
      assert.deepEqual(await segments.totals({ by: 'worker' }), totals);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('enter what was kept and had not reached the ledger, once', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-books-'));
    try {
      await using store = await openStore('sqlite::memory:', { keyPrefix: 'sk-' });
      const { segments } = store;
      const options = { directory, origin: 'localhost/test', keySetPath: KEY_SET_PATH, now };
      const ids: string[] = [];
      {
        await using ledger = await openSignedLedger(options);
        // A ledger that takes the first receipt and hangs on the second, as if the process died there.
        let appended = 0;
        const hanging = {
          ...ledger,
          log: new Proxy(ledger.log, {
            get: (log, name) =>
              name === 'append'
                ? (leaf: Uint8Array) => (++appended > 1 ? new Promise(() => {}) : log.append(leaf))
                : Reflect.get(log, name, log),
          }),
        };
        // Taken by the ledger, and not entered: the kill came between.
        const answers = new Proxy(store.answers, {
          get: (table, name) =>
            name === 'enter' ? async () => {} : (Reflect.get(table, name, table) as () => unknown).bind(table),
        });
        const books = await Books.open({ ledger: hanging, answers, segments, logger, now });
        for (let i = 0; i < 2; i += 1) {
          const id = books.newId();
          ids.push(id);
          await books.keep(id, start, end);
          await sleep(150);
        }
        assert.equal(ledger.log.size, 1);
      }
      assert.equal((await store.answers.unentered(10)).length, 2);
      await using ledger = await openSignedLedger(options);
      await using books = await Books.open({ ledger, answers: store.answers, segments, logger, now });
      assert.equal(ledger.log.size, 2);
      for (const id of ids) {
        const receipt = JSON.parse((await books.receipt(id, 'key_1')) ?? '') as Json;
        const ledgerReceipt = await ledger.log.receipt(receipt.provenance.ledger_receipt_id);
        assert.ok((await verifyAnswer(receipt, { keySet: ledger.keySet(), ledgerReceipt })).ok);
      }
      assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
