// A client that remembers ledgers: what it accepts from one check to the next, waits for, keeps and refuses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANSWER_PATH, ledgerService, testKey } from '../../../tests/support/ledger-service.ts';
import { type LedgerMemory, ledgerMemory, StackClient, storedLedgerMemory, verifyUrl } from './index.ts';

const BASE = 'https://strata.test';

/** A service, asked without a socket; `broken` answers in its place where it matches a path. */
async function serviceOf(begin: Parameters<typeof ledgerService>[0]) {
  const service = await ledgerService(begin);
  const asked: string[] = [];
  const state = { broken: /^$/, fails: (): Response => new Response('{}', { status: 404 }) };
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname } = new URL(String(input));
    asked.push(pathname);
    if (state.broken.test(pathname)) return state.fails();
    const { status, content } = await service.answer(pathname);
    return new Response(content as BodyInit, { status });
  };
  const check = async (memory?: LedgerMemory, options = {}) => {
    asked.length = 0;
    const { ok, failedStep, unchecked, conflict, steps } = await verifyUrl(BASE + ANSWER_PATH, {
      ...{ fetch, memory, lagMs: 0 },
      ...options,
    });
    return { outcome: ok ? 'ok' : (unchecked?.kind ?? conflict?.kind ?? failedStep), steps, conflict };
  };
  return { ...service, fetch, asked, state, check };
}

describe('a client that remembers', () => {
  it('follows a ledger that grows, and refuses a fork, a rollback and another key, with both checkpoints', async () => {
    const service = await serviceOf({ size: 5 });
    const memory = ledgerMemory();
    assert.equal((await service.check()).steps.length, 6, 'without a memory there is nothing to compare');
    const first = await service.check(memory);
    assert.deepEqual([first.outcome, first.steps.at(-1)?.step], ['ok', 'consistency']);
    await service.become({ size: 300 });
    assert.equal((await service.check(memory)).outcome, 'ok');
    assert.ok(service.asked.some((path) => path.startsWith('/ledger/tile/0/')));
    for (const [state, kind] of [
      [{ size: 301, forkedAt: 299 }, 'fork'],
      [{ size: 300, forkedAt: 4 }, 'fork'],
      [{ size: 299 }, 'rollback'],
      [{ size: 400, key: testKey(9) }, 'other-key'],
    ] as const) {
      await service.become(state);
      const { outcome, conflict } = await service.check(memory);
      assert.deepEqual([outcome, conflict?.known?.split('\n')[1]], [kind, '300']);
      assert.equal(conflict?.shown.split('\n')[1], String(state.size));
    }
    assert.equal((await service.check(memory, { isReset: true })).outcome, 'ok');
    assert.equal((await service.check(memory)).outcome, 'ok', 'the other key is remembered now');
    const [{ checkpoint: ledgerCheckpoint } = assert.fail()] = await memory.get();
    await service.become({ size: 401, forkedAt: 7, key: testKey(9) });
    assert.equal((await service.check(undefined, { ledgerCheckpoint })).outcome, 'fork', 'one from elsewhere');
  });

  it('asks again for a checkpoint that is older than the remembered one, before it calls that a rollback', async () => {
    const [service, ahead] = [await serviceOf({ size: 9 }), await ledgerService({ size: 12 })];
    const memory = ledgerMemory();
    const answerOf = async (path: string) => new Response((await ahead.answer(path)).content as BodyInit);
    // The ledger is read on another node than the receipt.
    const fetch: typeof globalThis.fetch = (input) => {
      const { pathname } = new URL(String(input));
      return /checkpoint|tile/.test(pathname) ? answerOf(pathname) : service.fetch(input);
    };
    assert.equal((await service.check(memory)).outcome, 'ok');
    await service.become({ size: 7 });
    assert.equal((await service.check(memory)).outcome, 'rollback');
    assert.equal((await service.check(memory, { fetch })).outcome, 'ok');
    await service.become({ size: 7, forkedAt: 6 });
    assert.equal((await service.check(memory, { fetch })).outcome, 'fork', 'the receipt is in no tree of that ledger');
  });

  it('refuses a ledger that withholds its tiles, and judges nothing where they cannot be had now', async () => {
    const service = await serviceOf({ size: 5 });
    const memory = ledgerMemory();
    await service.check(memory);
    await service.become({ size: 8 });
    service.state.broken = /tile/;
    assert.equal((await service.check(memory)).outcome, 'unproved');
    for (const fails of [
      () => new Response('', { status: 503 }),
      () => new Response('', { status: 429 }),
      () => assert.fail(new TypeError('fetch failed')),
    ]) {
      service.state.fails = fails;
      assert.equal((await service.check(memory)).outcome, 'not-fetched');
    }
    assert.equal((await memory.get())[0]?.checkpoint.split('\n')[1], '5');
  });

  it('proves anew what another check has remembered since: of two histories one is refused', async () => {
    const service = await serviceOf({ size: 5 });
    const memory = ledgerMemory();
    await service.check(memory);
    await service.become({ size: 8, forkedAt: 6 });
    const other = await serviceOf({ size: 9 });
    let isFirst = true;
    const contended: LedgerMemory = {
      get: () => memory.get(),
      async set(next, before) {
        if (isFirst) assert.equal((await other.check(memory)).outcome, 'ok');
        isFirst = false;
        return memory.set(next, before);
      },
    };
    assert.equal((await service.check(contended)).outcome, 'rollback');
    await service.become({ size: 10, forkedAt: 6 });
    assert.equal((await service.check(contended)).outcome, 'fork');
    const busy = { get: () => [], set: () => false };
    assert.equal((await service.check(busy)).outcome, 'not-fetched');
  });

  it('remembers as long as it lives, or in the storage of a page', async () => {
    const service = await serviceOf({ size: 5 });
    const values = new Map<string, string>();
    const storage = {
      getItem: (name: string) => values.get(name) ?? null,
      setItem: (name: string, value: string) => void values.set(name, value),
    };
    const stored = () => storedLedgerMemory(() => storage, 'ledgers');
    const blocked = storedLedgerMemory(() => assert.fail('storage is off'), 'ledgers');
    const client = new StackClient({ baseUrl: BASE, fetch: service.fetch });
    const text = String((await service.answer(ANSWER_PATH)).content);
    const outcomes = async () => [
      (await service.check(stored())).outcome,
      (await service.check(blocked)).outcome,
      (await client.verify(text)).conflict?.kind ?? 'ok',
    ];
    assert.deepEqual(await outcomes(), ['ok', 'ok', 'ok']);
    await service.become({ size: 6, forkedAt: 4 });
    assert.deepEqual(await outcomes(), ['fork', 'fork', 'fork']);
    assert.deepEqual([...values.keys()], ['ledgers']);
    for (const broken of ['{', 'null', '[{}]']) {
      values.set('ledgers', broken);
      assert.equal((await service.check(stored())).outcome, 'unreadable', broken);
      assert.equal((await service.check(stored(), { isReset: true })).outcome, 'ok', broken);
    }
  });
});
