// The check of API keys, and the memory of its results.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RateLimiter } from '@strata/limits';
import { countedNetworks } from '../limits/counted-address.ts';
import { type ErrorCode, Refusal } from '../problems/errors.ts';
import type { ApiKey } from '../route.ts';
import { KeyCheck } from './keys.ts';

const key: ApiKey = { id: 'k1', tier: 'free', dailyLimit: 2 };
const uncounted: ApiKey = { ...key, dailyLimit: null };

/** A gate over a map that counts its look-ups, and clocks that the test sets. */
function createGate() {
  const keys = new Map(Object.entries({ ssk_good: key, ssk_unlimited: uncounted }));
  const state = {
    ...{ keys, finds: 0, used: 0, monotonicMs: 1, revision: 0 },
    /** The lookup of the gate; may throw before it returns a promise. */
    find: async (presented: string): Promise<ApiKey | undefined> => keys.get(presented),
  };
  const gate = {
    find(presented: string) {
      state.finds += 1;
      return state.find(presented);
    },
    async take(_id: string, _day: string, limit: number) {
      if (state.used >= limit) return { isAllowed: false, used: limit };
      state.used += 1;
      return { isAllowed: true, used: state.used };
    },
    used: async () => state.used,
    revision: () => state.revision,
    stillValid: async () => new Set<string>(),
  };
  const now = () => new Date('2026-05-01T23:59:30.250Z');
  const check = new KeyCheck(gate, now, () => state.monotonicMs);
  const identify = async (header: string | string[] | undefined, from?: string) => check.identify(header, from);
  const rejects = (header: string | string[] | undefined, code: ErrorCode | RegExp, from?: string) =>
    assert.rejects(identify(header, from), code instanceof RegExp ? code : refusedAs(code));
  return { state, check, identify, rejects };
}

const refusedAs = (code: ErrorCode, retryAfter?: string) => (error: unknown) =>
  error instanceof Refusal &&
  error.code === code &&
  (retryAfter === undefined || error.headers['retry-after'] === retryAfter);
const fails = () => {
  throw new Error('the database is offline');
};

describe('the key check', () => {
  it('refuses a missing, repeated, overlong or unknown key, and names the header of keys', async () => {
    const { check, rejects } = createGate();
    for (const missing of [undefined, '']) await rejects(missing, 'missing_key');
    for (const wrong of ['ssk_good, ssk_good', ['ssk_good', 'ssk_good'], 'x'.repeat(201), 'ssk_other'])
      await rejects(wrong, 'invalid_key');
    const namesHeader = ({ headers }: Refusal) => /X-Stack-Key/.test(headers['www-authenticate'] ?? '');
    for (const key of [undefined, 'ssk_other']) await assert.rejects(async () => check.identify(key), namesHeader);
  });

  it('queries the gate once for concurrent requests, and caches the key for half a minute', async () => {
    const { state, check, identify, rejects } = createGate();
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => identify('ssk_good'))), [key, key, key]);
    state.monotonicMs = 30_000;
    assert.equal(check.identify('ssk_good'), key, 'at once, not a promise');
    assert.equal(state.finds, 1);
    state.keys.clear();
    state.monotonicMs = 30_002;
    await rejects('ssk_good', 'invalid_key');
  });

  it('clears its cache when the gate publishes a revocation', async () => {
    const { state, check, identify, rejects } = createGate();
    await identify('ssk_unlimited');
    assert.ok(check.knownUncounted('ssk_unlimited'));
    state.revision = 1;
    assert.ok(!check.knownUncounted('ssk_unlimited'));
    // Revoked while it is looked up: a request that came before gets it, no later one.
    const found = Promise.withResolvers<ApiKey>();
    state.find = () => found.promise;
    const asked = identify('ssk_unlimited');
    state.find = async () => undefined;
    state.revision = 2;
    await rejects('ssk_unlimited', 'invalid_key');
    found.resolve(uncounted);
    await asked;
    assert.ok(!check.knownUncounted('ssk_unlimited'));
    await rejects('ssk_unlimited', 'invalid_key');
  });

  it('caches an invalid key as briefly, and separately from valid ones', async () => {
    const { state, check, identify, rejects } = createGate();
    await identify('ssk_good');
    const from = (i: number) => `198.18.${i >> 8}.${i & 255}`;
    for (let i = 0; i < 10_100; i += 1) await assert.rejects(identify(`ssk_${i}`, from(i)));
    const { finds } = state;
    assert.equal(check.identify('ssk_good'), key, 'guesses evicted it');
    await rejects('ssk_10099', 'invalid_key');
    assert.equal(state.finds, finds);
    state.keys.set('ssk_10099', key);
    state.monotonicMs = 2_002;
    assert.equal(await identify('ssk_10099'), key);
  });

  it('limits the invalid keys of an address, and then looks up only keys that were valid before', async () => {
    const { state, identify, rejects } = createGate();
    await identify('ssk_good', '192.0.2.1');
    await Promise.allSettled(Array.from({ length: 150 }, (_, i) => identify(`ssk_${i}`, '192.0.2.1')));
    assert.equal(state.finds, 101, 'concurrent guesses are counted one by one');
    await assert.rejects(identify('ssk_200', '192.0.2.1'), refusedAs('quota_exceeded', '60'));
    assert.equal(state.finds, 101);
    state.monotonicMs += 31_000;
    assert.equal(await identify('ssk_good', '192.0.2.1'), key, 'no longer cached, but still looked up');
    await rejects('ssk_200', 'invalid_key', '192.0.2.2');
    state.monotonicMs += 60_000;
    await rejects('ssk_201', 'invalid_key', '192.0.2.1');
  });

  it('limits the invalid keys of a /56 and of a /48 together, and looks up a key that was valid there', async () => {
    const { state, identify } = createGate();
    await identify('ssk_good', '2001:db8:0:1::1');
    /** How many of as many guesses, each from a subnet of its own, were looked up. */
    const lookedUp = async (count: number, subnet: (i: number) => number) => {
      const before = state.finds;
      const guess = (i: number) => identify(`ssk_${subnet(i)} ${i}`, `2001:db8:0:${subnet(i).toString(16)}::`);
      await Promise.allSettled(Array.from({ length: count }, (_, i) => guess(i)));
      return state.finds - before;
    };
    assert.equal(await lookedUp(600, (i) => i % 256), 400, 'of a /56');
    assert.equal(await lookedUp(1_500, (i) => 256 + i), 1_200, 'of a /48, which the first is in');
    state.monotonicMs += 31_000;
    assert.equal(await identify('ssk_good', '2001:db8:0:1::1'), key);
  });

  it('counts all callers of the service together', () => {
    let at = 86_400_000;
    const window = new RateLimiter({ limit: 2, period: 60_000, refill: 'window', now: () => at });
    const taken = (i: number) => window.take(countedNetworks(`198.18.${i >> 8}.${i & 255}`));
    assert.equal(Array.from({ length: 2_100 }, (_, i) => taken(i)).filter((ms) => ms === 60_000).length, 100);
    window.refund(countedNetworks('198.18.0.0'));
    assert.deepEqual([taken(2_200), taken(2_201)], [0, 60_000]);
    at = 0;
    assert.equal(taken(2_201), 0, 'a clock that is set back refuses nothing for a day');
  });

  it('keeps an uncounted key for a minute while the gate fails, and no other key, and caches no failure', async () => {
    const { state, check, identify, rejects } = createGate();
    state.keys.set('ssk_unknown', uncounted);
    await identify('ssk_unlimited');
    await identify('ssk_good');
    const { find } = state;
    state.find = fails;
    state.monotonicMs = 30_002;
    assert.equal(await identify('ssk_unlimited'), uncounted);
    const { finds } = state;
    state.monotonicMs = 40_001;
    assert.ok(check.knownUncounted('ssk_unlimited'), 'requests do not wait for the gate each time');
    assert.equal(state.finds, finds);
    await rejects('ssk_good', /offline/);
    await rejects('ssk_unknown', /offline/);
    state.monotonicMs = 59_000;
    assert.equal(await identify('ssk_unlimited'), uncounted);
    state.monotonicMs = 60_002;
    await rejects('ssk_unlimited', /offline/);
    state.find = find;
    assert.equal(await identify('ssk_unlimited'), uncounted);
    assert.equal(await identify('ssk_good'), key);
  });

  it('waits two seconds for a silent gate where a key is cached, and uses a late answer', async (t) => {
    const { state, check, identify } = createGate();
    await identify('ssk_unlimited');
    state.monotonicMs += 31_000;
    const late = Promise.withResolvers<ApiKey | undefined>();
    state.find = () => late.promise;
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = identify('ssk_unlimited');
    t.mock.timers.tick(1_999);
    assert.equal(await Promise.race([asked, nextTurn('waits')]), 'waits');
    t.mock.timers.tick(1);
    assert.equal(await asked, uncounted);
    assert.ok(check.knownUncounted('ssk_unlimited'));
    late.resolve(undefined);
    await nextTurn();
    assert.ok(!check.knownUncounted('ssk_unlimited'), 'it was revoked while the gate was silent');
  });

  for (const how of ['published', 'observed'] as const)
    it(`does not keep a key whose revocation was ${how} before the gate failed`, async () => {
      const { state, identify, rejects } = createGate();
      await identify('ssk_unlimited');
      state.monotonicMs += 31_000;
      if (how === 'published') state.revision = 1;
      else {
        state.find = async () => undefined;
        await rejects('ssk_unlimited', 'invalid_key');
      }
      state.monotonicMs += 3_000;
      state.find = () => Promise.reject(new Error('offline'));
      await rejects('ssk_unlimited', /offline/);
    });

  it('takes the short path only for a known key that need not be counted', async () => {
    const { state, check, identify } = createGate();
    assert.ok(!check.knownUncounted('ssk_unlimited'), 'not observed yet');
    for (const each of ['ssk_unlimited', 'ssk_good']) await identify(each);
    assert.ok(check.knownUncounted('ssk_unlimited'));
    for (const header of ['ssk_good', undefined, '', ['ssk_unlimited'], 'x'.repeat(201)])
      assert.ok(!check.knownUncounted(header));
    state.monotonicMs = 30_002;
    assert.ok(!check.knownUncounted('ssk_unlimited'), 'forgotten');
  });

  it('reports the remaining quota, and with 429 the seconds until the next day', async () => {
    const { check } = createGate();
    const fields = { 'ratelimit-policy': '"free";q=2;w=86400', ratelimit: '"free";r=1;t=30' };
    const legacy = { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' };
    assert.deepEqual(await check.count(key), { ...fields, ...legacy });
    await check.count(key);
    await assert.rejects(check.count(key), refusedAs('quota_exceeded', '30'));
    assert.deepEqual(await check.count(uncounted), {});
  });
});
