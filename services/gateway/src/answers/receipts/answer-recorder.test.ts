// Receipts between database and ledger: entered soon, entered once after a crash, and deleted after their retention.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '@strata/db';
import { createLogger } from '@strata/http';
import { openSignedLedger, type SignedLedger } from '@strata/log';
import { verifyAnswer } from '@strata/receipts';
import { temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import { KEY_SET_PATH } from '../../routes/receipts.ts';
import { type GatewayStore, openStore } from '../../store/index.ts';
import { onEach, postgres } from '../../store/test/backends.ts';
import { AnswerRecorder } from './answer-recorder.ts';

const now = () => new Date();
const end = {
  ...({ outcome: 'completed', content: [], finishReasons: [], firstTokenAt: undefined, segments: [] } as const),
  usage: { promptTokens: 1, completionTokens: 1, cachedTokens: 0 },
};
const start = {
  ...{ answerId: 'chatcmpl-1', requestId: 'req_1', keyId: 'key_1', endpoint: '/v1/chat/completions' },
  model: { id: 'm', sha256: null, engine: 'e', verified: { level: 'claimed', reason: 'a test' } },
  ...{ salt: '00'.repeat(32), requestDigest: '00', receivedAt: now() },
} as const;

/** The object with one of its methods replaced. */
function replaced<T extends object>(of: T, name: keyof T, method: unknown): T {
  const own = (key: string | symbol) => {
    const value = Reflect.get(of, key, of);
    return typeof value === 'function' ? value.bind(of) : value;
  };
  return new Proxy(of, { get: (_of, key) => (key === name ? method : own(key)) });
}

type Append = (leaf: Uint8Array) => Promise<unknown>;

async function scene(given?: GatewayStore) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const store = given ?? stack.use(await openStore('sqlite::memory:'));
  const deps = { segments: store.segments, logger: createLogger({ level: 'silent' }), now };
  return Object.assign(stack.move(), {
    store,
    openLedger: () => openSignedLedger({ directory, origin: 'localhost/test', keySetPath: KEY_SET_PATH, now }),
    /** `append` replaces the ledger’s own. */
    async open(ledger: SignedLedger, append?: Append, answers = store.answers) {
      const log = append ? replaced(ledger.log, 'append', append) : ledger.log;
      const recorder = new AnswerRecorder({ ...deps, gateway: () => 0, ledger: { ...ledger, log }, answers });
      await recorder.settle(0);
      return recorder;
    },
    keep: (recorder: AnswerRecorder, id = recorder.newId()) => recorder.keep(id, start, end).then(() => id),
    unentered: async () => (await store.answers.unentered(99)).length,
  });
}

describe('receipts', () => {
  it('are entered soon, including those that arrive while the ledger is busy or the recorder closes', async () => {
    await using world = await scene();
    await using ledger = await world.openLedger();
    let held = Promise.withResolvers<void>();
    let appended = 0;
    await using recorder = await world.open(ledger, async (leaf) => {
      appended += 1;
      await held.promise;
      return ledger.log.append(leaf);
    });
    await world.keep(recorder);
    await until(() => appended === 1);
    for (let i = 0; i < 5; i += 1) await world.keep(recorder);
    assert.equal(await world.unentered(), 6);
    // Their timer fires while the ledger is busy.
    await sleep(150);
    held.resolve();
    await until(() => ledger.log.size === 6);
    await world.keep(recorder);
    await until(async () => (await world.unentered()) === 0);
    held = Promise.withResolvers<void>();
    await world.keep(recorder);
    await until(() => appended === 8);
    await world.keep(recorder);
    const kept = world.keep(recorder);
    const closed = recorder[Symbol.asyncDispose]();
    await kept;
    held.resolve();
    await closed;
    assert.equal(ledger.log.size, 10);
  });

  it('of one iteration of the event loop are stored in one transaction', async () => {
    await using world = await scene();
    await using ledger = await world.openLedger();
    const stored: number[] = [];
    const keep = async (_: unknown, { begun }: { readonly begun: readonly unknown[] }) =>
      void stored.push(begun.length);
    await using recorder = await world.open(ledger, undefined, replaced(world.store.answers, 'keep', keep));
    await Promise.all([1, 2, 3].map(() => recorder.begin(recorder.newId(), start, end.usage)));
    assert.deepEqual(stored, [3]);
  });

  it('of answers that a crash interrupted are signed at the next start, once, and count the prompt', async () => {
    await using world = await scene();
    await using ledger = await world.openLedger();
    // A killed process enters nothing later.
    const killed = replaced(world.store.answers, 'enter', async () => {});
    await using recorder = await world.open(ledger, undefined, killed);
    const [lost, ended] = [recorder.newId(), recorder.newId()];
    for (const id of [lost, ended]) await recorder.begin(id, start, { ...end.usage, promptTokens: 7 });
    await recorder.keep(ended, start, end, { isBegun: true });
    await (await world.open(ledger))[Symbol.asyncDispose]();
    await using later = await world.open(ledger);
    const [interrupted, completed] = await Promise.all([lost, ended].map((id) => later.receipt(id, 'key_1')));
    const receipt = JSON.parse(interrupted ?? '');
    const usage = { prompt_tokens: 7, cached_tokens: 0, completion_tokens: 0 };
    assert.partialDeepStrictEqual(receipt, { outcome: 'interrupted', usage });
    assert.ok(!('answer_hmac_sha256' in receipt) && !JSON.stringify(receipt).includes(start.salt));
    const ledgerReceipt = await ledger.log.receipt(receipt.provenance.ledger_receipt_id);
    assert.ok((await verifyAnswer(receipt, { keySet: ledger.keySet(), ledgerReceipt })).ok);
    assert.equal(JSON.parse(completed ?? '').outcome, 'completed');
    assert.equal(await world.store.tokens.used({ keyId: 'key_1', day: '2000-01-01' }), 9);
  });

  it('that were stored and not entered before a crash are entered once at the next start', async () => {
    await using world = await scene();
    const { store } = world;
    const ids: string[] = [];
    {
      await using ledger = await world.openLedger();
      // The ledger appends the first receipt and hangs at the second, as if the process were killed there.
      let appended = 0;
      const append: Append = (leaf) => (++appended > 1 ? new Promise(() => {}) : ledger.log.append(leaf));
      // The first one is in the ledger, but not marked as entered: the crash happened between the two.
      const answers = replaced(store.answers, 'enter', async () => {});
      const recorder = await world.open(ledger, append, answers);
      for (const count of [1, 2]) {
        ids.push(await world.keep(recorder));
        await until(() => appended === count);
      }
      await until(() => ledger.log.size === 1);
    }
    assert.equal(await world.unentered(), 2);
    await using ledger = await world.openLedger();
    await using recorder = await world.open(ledger);
    assert.equal(ledger.log.size, 2);
    for (const id of ids) {
      const receipt = JSON.parse((await recorder.receipt(id, 'key_1')) ?? '');
      const ledgerReceipt = await ledger.log.receipt(receipt.provenance.ledger_receipt_id);
      assert.ok((await verifyAnswer(receipt, { keySet: ledger.keySet(), ledgerReceipt })).ok);
    }
    assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
  });

  it('that the database has stored although the connection was lost are entered and counted', async () => {
    await using world = await scene();
    await using ledger = await world.openLedger();
    const { answers } = world.store;
    const keep = (...asked: Parameters<typeof answers.keep>) =>
      answers.keep(...asked).then(() => Promise.reject(new StoreError('connection-lost')));
    await using recorder = await world.open(ledger, undefined, replaced(answers, 'keep', keep));
    await assert.rejects(world.keep(recorder), { code: 'connection-lost' });
    await until(async () => (await world.unentered()) === 0, { limitMs: 10_000 });
    assert.equal((await answers.usage({ since: '2000-01-01' }))[0]?.requests, 1);
  });

  it('are deleted in pages, until a page is not full, and the proofs of segments after their retention; totals stay', async () => {
    await using world = await scene();
    const { segments } = world.store;
    const endedAtMs = Date.now() - 1_000;
    for (const [n, at] of [endedAtMs - 86_400_000, endedAtMs].entries())
      await segments.put({
        ...{ nonce: new Uint8Array(16).fill(n), worker: 'w', gateway: 'g', caller: 'key_1', endedAtMs: at },
        ...{ modelSha256: 'ab'.repeat(32), promptTokens: 3, cachedTokens: 0, outputTokens: 5 },
        ...{ receipt: new Uint8Array(300), workerSignature: new Uint8Array(64), gatewaySignature: new Uint8Array(64) },
      });
    const totals = await segments.totals({ by: 'worker' });
    await using ledger = await world.openLedger();
    const pages = [500, 500, 2];
    const answers = replaced(world.store.answers, 'forget', async () => pages.shift() ?? 0);
    await using recorder = await world.open(ledger, undefined, answers);
    await recorder.forget(new Date(endedAtMs - 1_000));
    assert.deepEqual(pages, []);
    const sizes = (await segments.list({ limit: 9 })).map(({ receipt }) => receipt.byteLength);
    assert.deepEqual([sizes, await segments.totals({ by: 'worker' })], [[300, 0], totals]);
  });
});

onEach([postgres], 'an answer that another gateway has ended', (_backend, test) => {
  test('is refused, and the other records of its batch are stored', async (store) => {
    await using world = await scene(store);
    await using ledger = await world.openLedger();
    await using another = await world.open(ledger);
    await using recorder = await world.open(ledger);
    const ended = recorder.newId();
    await recorder.begin(ended, start, end.usage);
    await another.settle(0);
    const late = recorder.keep(ended, start, end, { isBegun: true });
    const [kept] = await Promise.all([world.keep(recorder), assert.rejects(late, { code: 'superseded' })]);
    const receipts = await Promise.all([ended, kept].map((id) => recorder.receipt(id, 'key_1')));
    const outcomes = receipts.map((receipt) => JSON.parse(receipt ?? '').outcome);
    assert.deepEqual([outcomes, ledger.log.size], [['interrupted', 'completed'], 2]);
    assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
  });
});
