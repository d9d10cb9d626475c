// Receipts of answers: of every endpoint, of streams, of disconnected clients and of workers; and who can fetch them.
import assert from 'node:assert/strict';
import { createHash, createHmac, hash } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { StoreError } from '@strata/db';
import type { Engine, JobContext } from '@strata/engine';
import { readAnswerContent } from '@strata/inference';
import { Witness } from '@strata/log';
import { canonicalize, parseVerifierKey, verifyAnswer } from '@strata/receipts';
import { createSimulatedEngine } from '@strata/testnet';
import { casesOf, fakeService, temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { AnswerAccumulator, MAX_SEGMENTS } from '../answers/answer-accumulator.ts';
import { TokenQuota } from '../limits/token-quota.ts';
import { type Harness, type Json, MODEL, startHarness } from '../test/harness.ts';
import { ENDLESS, get, MESSAGES as messages, post, sharedGateway } from '../test/shared.ts';

const CHAT = '/v1/chat/completions';
const short = { model: MODEL, messages, max_tokens: 1 };
const saltOf = ({ headers }: { headers: Headers }) => headers.get('x-receipt-salt') ?? '';
const salted = (answer: { headers: Headers }, text: string | Uint8Array) =>
  createHmac('sha256', Buffer.from(saltOf(answer), 'hex'))
    .update(text)
    .digest('hex');
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The receipt of an answer, verified only with public data of the gateway. */
async function receiptOf(service: Harness, { headers }: { headers: Headers }, key = service.key): Promise<Json> {
  const id = headers.get('x-receipt-id') ?? '';
  assert.match(id, /^rwr_[0-9A-Z]{26}$/);
  const { status, body: receipt, text } = await service.get(`/v1/receipts/${id}`, bearer(key));
  assert.deepEqual([status, receipt.provenance?.receipt_id], [200, id], text);
  const { body: keySet } = await service.get(receipt.provenance.public_key_url);
  const { body: ledgerReceipt } = await service.get(`/ledger/receipts/${receipt.provenance.ledger_receipt_id}`);
  assert.ok((await verifyAnswer(receipt, { keySet, ledgerReceipt })).ok);
  return receipt;
}

describe('the receipt of an answer', () => {
  const asked = casesOf<[endpoint: string, body: object, finish: string[]][]>('gateway', 'answers with receipts');
  for (const [endpoint, more, finish] of asked)
    it(`of ${endpoint} is of this request and this answer: ${JSON.stringify(more)}`, async () => {
      const body = JSON.stringify({ model: MODEL, ...more });
      const service = await sharedGateway();
      const answer = await service.post(`/v1/${endpoint}`, body);
      assert.equal(answer.status, 200, answer.text);
      const receipt = await receiptOf(service, answer);
      assert.partialDeepStrictEqual(receipt, {
        ...{ request_hmac_sha256: salted(answer, body), outcome: 'completed', endpoint: `/v1/${endpoint}` },
        answer_hmac_sha256: salted(answer, canonicalize(readAnswerContent(answer.text))),
        finish_reasons: finish,
        model: { sha256: service.running.gateway.models.get(MODEL).backend.facts.sha256 },
      });
      assert.ok(receipt.usage.prompt_tokens > 0);
      assert.ok(Date.parse(receipt.times.received_at) <= Date.parse(receipt.times.finished_at));
      assert.doesNotMatch(JSON.stringify(receipt), /DMARC|receivers/, 'it holds no text');
    });

  it('does not verify a guess of the request without the salt, which is returned once and not stored', async () => {
    const service = await sharedGateway();
    const body = JSON.stringify({ model: MODEL, messages, temperature: 0 });
    const [first, again] = [await service.post(CHAT, body), await service.post(CHAT, body)];
    const [one, two] = [await receiptOf(service, first), await receiptOf(service, again)];
    assert.notEqual(one.request_hmac_sha256, two.request_hmac_sha256);
    assert.notEqual(one.answer_hmac_sha256, two.answer_hmac_sha256);
    const inLedger = await service.get(`/ledger/receipts/${one.provenance.ledger_receipt_id}`);
    const kept = JSON.stringify([one, inLedger.text]);
    const plain = [body, canonicalize(readAnswerContent(first.text))].map((text) => hash('sha256', text));
    for (const secret of [saltOf(first), ...plain]) assert.ok(!kept.includes(secret));
    // The database as it is on disk.
    const row = await service.running.gateway.answers.receipt(first.headers.get('x-receipt-id') ?? '', one.key_id);
    assert.ok(row && !row.body.includes(saltOf(first)));
  });

  it('records that the client disconnected', async () => {
    const service = await sharedGateway();
    const leaving = new AbortController();
    const response = await service.open(CHAT, { ...ENDLESS, stream: true }, leaving);
    await response.body?.getReader().read();
    leaving.abort();
    const target = `/v1/receipts/${response.headers.get('x-receipt-id')}`;
    for (let tries = 0; tries < 1_000 && (await get(target)).status !== 200; tries += 1);
    const { outcome, finish_reasons } = await receiptOf(service, response);
    assert.deepEqual([outcome, finish_reasons], ['cancelled', [null]]);
  });

  it('counts the inputs whose embedding a client did not wait for', async () => {
    const service = await sharedGateway();
    const { keys, answers } = service.running.gateway;
    const { key, stored } = await keys.create({ tier: 'free' });
    const leaving = new AbortController();
    const body = { model: MODEL, input: Array.from({ length: 500 }, (_, n) => `What is record ${n}?`) };
    const left = service.open('/v1/embeddings', body, { signal: leaving.signal, key }).catch(() => {});
    await until(() => service.running.gateway.models.get(MODEL).admission.running > 0);
    leaving.abort();
    await left;
    const used = () => answers.usage({ since: '2000-01-01', keyId: stored.id });
    await until(async () => (await used()).length > 0);
    const [row] = await used();
    assert.ok(row && row.promptTokens > 0 && row.promptTokens < 5_000, JSON.stringify(row));
    const input = body.input.map((text) => text.repeat(10));
    const { status, headers } = await post('/v1/embeddings', { model: MODEL, input }, bearer(key));
    assert.deepEqual([status, headers.get('x-should-retry')], [429, 'false'], 'above the tokens of a minute');
  });

  it('is another one if another gateway has ended the answer, whose tokens are then not counted here', async (t) => {
    const { running, post } = await sharedGateway();
    const { key } = await running.gateway.keys.create({ tier: 'free' });
    const released: number[] = [];
    const settle = (tokens: number) => () => void released.push(tokens);
    t.mock.method(TokenQuota.prototype, 'take', async () => ({ used: 0, settle }));
    t.mock.method(running.gateway.answers, 'keep', () => Promise.reject(new StoreError('superseded')));
    const { status, text } = await post(CHAT, short, bearer(key));
    assert.equal(status, 503);
    assert.match(text, /another one has ended its answers/);
    assert.ok(released.length === 1 && (released[0] ?? 0) > 0);
  });

  it('is only for the key of the request; a rejected request has none', async () => {
    const target = `/v1/receipts/${(await post(CHAT, short)).headers.get('x-receipt-id')}`;
    const { key } = await (await sharedGateway()).running.gateway.keys.create({ tier: 'unlimited' });
    assert.equal((await get(target, bearer(key))).status, 404);
    assert.equal((await get(target, { authorization: '' })).status, 401);
    assert.equal((await get('/v1/receipts/rwr_none')).status, 400);
    assert.equal((await post(CHAT, { model: MODEL, messages: [] })).headers.get('x-receipt-id'), null);
  });

  it('is in a ledger that is served without a key', async () => {
    const service = await sharedGateway();
    const { provenance } = await receiptOf(service, await post(CHAT, short));
    const served = casesOf<readonly (readonly [string, number, string])[]>('gateway', 'paths of the ledger');
    for (const [target, status, text] of served) {
      const response = await fetch(`${service.base}/ledger/${target.replace('ID', provenance.ledger_receipt_id)}`);
      assert.equal(response.status, status, target);
      assert.match(await response.text(), new RegExp(text, 's'));
    }
  });

  it('and its usage are counted by key and model', async () => {
    const service = await sharedGateway();
    const { key, stored } = await service.running.gateway.keys.create({ tier: 'standard' });
    const ask = () => post(CHAT, { model: MODEL, messages, n: 2, max_tokens: 5 }, bearer(key));
    const { body } = await ask();
    // The request for a receipt waits until the answer is counted.
    await receiptOf(service, await ask(), key);
    const [row, ...more] = await service.running.gateway.answers.usage({ since: '2000-01-01', keyId: stored.id });
    assert.deepEqual(more, []);
    const [promptTokens, completionTokens] = [2 * body.usage.prompt_tokens, 2 * body.usage.completion_tokens];
    assert.partialDeepStrictEqual(row, { requests: 2, model: MODEL, promptTokens, completionTokens });
  });
});

it('the ledger is cosigned by the configured witnesses, once they know it', async () => {
  await using directory = await temporaryDirectory();
  const logs = new Map();
  const now = () => new Date();
  await using witness = await Witness.open({ directory: directory.path, name: 'w.example', logs, now });
  await using server = await fakeService(async (request, response) => {
    const { status, body } = await witness.addCheckpoint(await textOf(request));
    response.writeHead(status).end(body);
  });
  const engine = createSimulatedEngine({ answerTokens: 2 }) as unknown as Engine;
  const settings = { STRATA_MODEL: '', STRATA_WITNESSES: `${witness.verifierKey} ${server.base}` };
  await using service = await startHarness(settings, { engines: { m: engine } });
  assert.deepEqual((await service.get('/ready')).body.witnesses.missing, ['w.example']);
  const { origin, verifier_keys } = (await service.get('/.well-known/inference-keys.json')).body.ledger;
  logs.set(origin, [parseVerifierKey(verifier_keys[0])]);
  await until(async () => /\n— w\.example /.test((await service.get('/ledger/checkpoint')).text));
});

const HEAD = 'c'.repeat(64);
const nonceOf = (seed: number) => createHash('md5').update(String(seed)).digest('hex');
const segment = (choice: number, worker: string, seed: number, [from, to]: readonly [number, number]) => ({
  ...{ choice, worker, nonce: nonceOf(seed + from), from, to },
});

/** An engine whose answers are generated by two workers: the first is lost after three tokens. `contexts` has the context of each job. */
function twoWorkers(contexts: JobContext[]): Engine {
  const simulated = createSimulatedEngine({ answerTokens: 8 }) as unknown as Engine;
  return {
    ...simulated,
    ...{ info: simulated.info, isReady: true },
    async *generate(job, signal, context = {}) {
      contexts.push(context);
      let to = 0;
      const ended = (worker: string, from: number) =>
        context.onSegment?.({
          ...{ worker, nonce: nonceOf(job.sampling.seed + from), from, to, chainHead: HEAD },
          verified: { level: worker === 'first' ? 'audited' : 'claimed', reason: worker },
        });
      try {
        for await (const event of simulated.generate(job, signal, context)) {
          if (event.kind === 'token' && to === 3) ended('first', 0);
          if (event.kind === 'token') to += 1;
          yield event;
        }
      } finally {
        if (to > 3) ended('second', 3);
        else ended('first', 0);
      }
    },
  };
}

describe('the receipt of an answer of several workers', () => {
  const contexts: JobContext[] = [];
  let service: Harness;
  before(async () => {
    const alone = createSimulatedEngine({ answerTokens: 8 }) as unknown as Engine;
    service = await startHarness({ STRATA_MODEL: '' }, { engines: { workers: twoWorkers(contexts), alone } });
  });
  after(() => service?.[Symbol.asyncDispose]());
  const receiptFor = async (more: object) => {
    const answer = await service.post(CHAT, { model: 'workers', messages, seed: 5, ...more });
    const receipt = await receiptOf(service, answer);
    assert.match(answer.headers.get('x-model-verified') ?? '', /^pinned;reason="this gateway runs the file itself"$/);
    const head = salted(answer, Buffer.from(HEAD, 'hex'));
    for (const { chain_head_hmac_sha256 } of receipt.segments ?? []) assert.equal(chain_head_hmac_sha256, head);
    return receipt;
  };
  const segmentsFor = async (more: object) =>
    (await receiptFor(more)).segments.map(({ chain_head_hmac_sha256: _checked, ...rest }: Json) => rest);

  it('names the worker of each part of each choice, and the engine gets the key', async () => {
    for (const stream of [false, true])
      assert.deepEqual(await segmentsFor({ n: 2, stream }), [
        segment(0, 'first', 5, [0, 3]),
        segment(0, 'second', 5, [3, 8]),
        segment(1, 'first', 6, [0, 3]),
        segment(1, 'second', 6, [3, 8]),
      ]);
    const [stored] = await service.running.gateway.keys.list();
    assert.ok(contexts.every(({ caller }) => caller === stored?.id));
  });

  it('includes what a worker generated after a stop string, and no worker without a part', async () => {
    assert.deepEqual(await segmentsFor({ stop: ' w' }), [segment(0, 'first', 5, [0, 1])]);
    const verified = async (more: object) => (await receiptFor(more)).model.verified;
    assert.deepEqual(await verified({ stop: ' w' }), { level: 'audited', reason: 'first' });
    assert.deepEqual(await verified({}), { level: 'claimed', reason: 'second' }, 'the weakest of its workers');
    assert.equal('segments' in (await receiptFor({ model: 'alone' })), false);
  });

  it('has a bounded number of segments', () => {
    const workers = new AnswerAccumulator(1, { keepsLogprobs: false });
    for (let from = 0; from <= MAX_SEGMENTS; from += 1)
      workers.takeSegment(0, {
        worker: 'w',
        nonce: nonceOf(from),
        from,
        to: from + 1,
        chainHead: HEAD,
        verified: { level: 'claimed', reason: 'a test' },
      });
    const { segments } = workers;
    assert.deepEqual([segments.length, segments.at(-1)?.from], [MAX_SEGMENTS, MAX_SEGMENTS - 1]);
  });
});
