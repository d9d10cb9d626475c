// A client with a memory of ledgers, over several verifications.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ANSWER_PATH,
  keyTextOf,
  type LedgerState,
  ledgerService,
  testKey,
} from '../../../../tests/support/ledger-service.ts';
import { type LedgerMemory, ledgerMemory, StackClient, storedLedgerMemory, verifyUrl } from '../index.ts';

const BASE = 'https://strata.test';

/** A service, asked without a socket; `instead` may answer first. */
async function serviceOf(begin: LedgerState) {
  const service = await ledgerService(begin);
  const instead = { at: async (_path: string): Promise<Response | undefined> => undefined };
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname } = new URL(String(input));
    const page = await service.page(pathname);
    const status = page === undefined ? 404 : 200;
    return (await instead.at(pathname)) ?? new Response((page ?? '') as BodyInit, { status });
  };
  /** The outcome of a verification, and its conflict. */
  const check = async (memory?: LedgerMemory, options = {}) => {
    const asked = { fetch, memory, lagMs: 0, ...options };
    const { ok, failedStep, unchecked, conflict } = await verifyUrl(BASE + ANSWER_PATH, asked);
    return [ok ? 'ok' : (unchecked?.kind ?? conflict?.kind ?? failedStep), conflict] as const;
  };
  const outcome = async (...args: Parameters<typeof check>) => (await check(...args))[0];
  return { ...service, fetch, instead, check, outcome };
}

describe('a client with a memory of ledgers', () => {
  it('accepts a ledger that grows, rejects a fork with both checkpoints, and starts over on request', async () => {
    const service = await serviceOf({ size: 5 });
    const memory = ledgerMemory();
    assert.equal(await service.outcome(memory), 'ok');
    await service.become({ size: 300 });
    assert.equal(await service.outcome(memory), 'ok');
    await service.become({ size: 400, forkedAt: 299, key: testKey(9) });
    assert.equal(await service.outcome(memory), 'other-key');
    await service.become({ size: 400, forkedAt: 299 });
    const [kind, { known = '', shown = '' } = {}] = await service.check(memory);
    assert.deepEqual([kind, known.split('\n')[1], shown.split('\n')[1]], ['fork', '300', '400']);
    assert.equal(await service.outcome(undefined, { ledgerCheckpoint: known }), 'fork', 'one from elsewhere');
    assert.equal(await service.outcome(undefined, { ledgerKey: keyTextOf(testKey(9)) }), 'checkpoint');
    for (const options of [{ isReset: true }, {}]) assert.equal(await service.outcome(memory, options), 'ok');
  });

  it('fetches an older checkpoint again before it reports a rollback', async () => {
    const [service, ahead] = [await serviceOf({ size: 9 }), await ledgerService({ size: 12 })];
    const memory = ledgerMemory();
    assert.equal(await service.outcome(memory), 'ok');
    await service.become({ size: 7 });
    assert.equal(await service.outcome(memory), 'rollback');
    // The ledger is read on another node than the receipt.
    service.instead.at = async (path) =>
      /checkpoint|tile/.test(path) ? new Response((await ahead.page(path)) as BodyInit) : undefined;
    assert.equal(await service.outcome(memory), 'ok');
    await service.become({ size: 7, forkedAt: 6 });
    assert.equal(await service.outcome(memory), 'fork', 'the receipt is in no tree of that ledger');
  });

  it('rejects a ledger without tiles, and does not verify while they are temporarily unavailable', async () => {
    const service = await serviceOf({ size: 5 });
    const memory = ledgerMemory();
    await service.outcome(memory);
    await service.become({ size: 8 });
    for (const [status, kind] of Object.entries({ 404: 'unproved', 429: 'not-fetched', 503: 'not-fetched' })) {
      service.instead.at = async (path) => (path.includes('tile') ? new Response('', { status: +status }) : undefined);
      assert.equal(await service.outcome(memory), kind);
    }
  });

  it('repeats the proof after a concurrent verification: of two histories one is rejected', async () => {
    const [service, other] = [await serviceOf({ size: 5 }), await serviceOf({ size: 9 })];
    const memory = ledgerMemory();
    await service.outcome(memory);
    await service.become({ size: 10, forkedAt: 6 });
    const contended: LedgerMemory = {
      get: () => memory.get(),
      async set(next, before) {
        assert.equal(await other.outcome(memory), 'ok');
        return memory.set(next, before);
      },
    };
    assert.equal(await service.outcome(contended), 'fork');
    assert.equal(await service.outcome({ get: () => [], set: () => false }), 'not-fetched');
  });

  it('stores ledgers for its lifetime, or in the storage of a page', async () => {
    const service = await serviceOf({ size: 5 });
    const values = new Map<string, string>();
    const setItem = (name: string, value: string) => void values.set(name, value);
    const stored = () => storedLedgerMemory(() => ({ getItem: (name) => values.get(name) ?? null, setItem }), 'known');
    const blocked = storedLedgerMemory(() => assert.fail('storage is off'), 'known');
    const client = new StackClient({ baseUrl: BASE, fetch: service.fetch });
    const text = String(await service.page(ANSWER_PATH));
    for (const [kind, forkedAt] of Object.entries({ undefined: 6, fork: 4 })) {
      await service.become({ size: 6, forkedAt });
      const conflicts = [await service.check(stored()), await service.check(blocked)].map(([, conflict]) => conflict);
      for (const conflict of [...conflicts, (await client.verify(text)).conflict])
        assert.equal(String(conflict?.kind), kind);
    }
    for (const broken of ['{', 'null', '[{}]']) {
      values.set('known', broken);
      assert.equal(await service.outcome(stored()), 'unreadable', broken);
      assert.equal(await service.outcome(stored(), { isReset: true }), 'ok', broken);
    }
  });
});
