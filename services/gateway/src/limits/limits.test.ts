import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompletionError } from '@strata/inference';
import { type GatewayStore, openStore } from '../store/index.ts';
import { durationText, Limits } from './limits.ts';
import { TokenQuota } from './token-quota.ts';

const free = { requestsPerMinute: 3, tokensPerMinute: 100, tokensPerDay: 250 };
const tiers = { free, standard: null, unlimited: null };

function limitsOn({ quota, tokens: reservations }: GatewayStore, now: () => Date) {
  return new Limits({ quota, tokens: new TokenQuota({ reservations, gateway: () => 0 }), now, tiers });
}

async function scene() {
  const store = await openStore('sqlite::memory:');
  let at = Date.parse('2026-01-01T12:00:00Z');
  const limits = limitsOn(store, () => new Date(at));
  const { stored } = await store.keys.create({ tier: 'free' });
  const pass = (ms: number) => {
    at += ms;
  };
  return { store, limits, stored, pass, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}
const refused = (message: RegExp, retryAfterMs?: number) => ({
  ...{ name: 'CompletionError', kind: 'rate_limit', message, ...(retryAfterMs ? { retryAfterMs } : {}) },
});

describe('limits', () => {
  it('count requests per minute, with a continuous refill', async () => {
    await using world = await scene();
    const { store, limits, stored, pass } = world;
    assert.deepEqual(await limits.takeRequest(stored), {
      ...{ 'x-ratelimit-limit-requests': '3', 'x-ratelimit-remaining-requests': '2' },
      'x-ratelimit-reset-requests': '20s',
    });
    for (let i = 0; i < 2; i += 1) await limits.takeRequest(stored);
    await assert.rejects(limits.takeRequest(stored), refused(/3 requests a minute/, 20_000));
    pass(20_000);
    await limits.takeRequest(stored);
    await assert.rejects(limits.takeRequest(stored), refused(/3 requests a minute/));
    // Only accepted requests are counted for the day.
    assert.equal(await store.quota.used(stored.id, '2026-01-01'), 4);
  });

  it('count requests per day, across restarts', async () => {
    await using world = await scene();
    const { store, limits, stored, pass } = world;
    for (let i = 0; i < 50; i += 1) {
      await limits.takeRequest(stored);
      pass(20_000);
    }
    await assert.rejects(limits.takeRequest(stored), refused(/daily quota of 50 requests/));
    const again = limitsOn(store, () => new Date('2026-01-01T23:59:59Z'));
    await assert.rejects(again.takeRequest(stored), refused(/daily quota/, 1_000));
    await limitsOn(store, () => new Date('2026-01-02T00:00:00Z')).takeRequest(stored);
  });

  it('count tokens on the day of their receipt', async () => {
    await using world = await scene();
    const { limits, store, stored, pass } = world;
    pass(12 * 3_600_000 - 1);
    const last = await limits.reserve(stored, { promptTokens: 40, answerTokens: 0 });
    pass(1);
    last.settle(40, 0, new Date('2026-01-01T23:59:59.999Z'));
    const used = (day: string) => store.tokens.used({ keyId: stored.id, day });
    assert.deepEqual([await used('2026-01-01'), await used('2026-01-02')], [40, 0]);
  });

  it('reserve the tokens of prompt and answer before the work, and keep those that were used', async () => {
    await using world = await scene();
    const { limits, stored, pass } = world;
    const first = await limits.reserve(stored, { promptTokens: 40, answerTokens: 20 });
    const { headers } = first;
    assert.deepEqual([headers['x-ratelimit-limit-tokens'], headers['x-ratelimit-remaining-tokens']], ['100', '40']);
    // What is reserved is not available to a concurrent request.
    const more = { promptTokens: 10, answerTokens: 40 };
    const more50 = refused(/of which 40 are left; the request needs 50 \(10 of/, 6_000);
    await assert.rejects(limits.reserve(stored, more), more50);
    first.settle(45);
    const second = await limits.reserve(stored, more);
    assert.equal(second.headers['x-ratelimit-remaining-tokens'], '5');
    second.settle(0);
    // A request without a limit of its own can use more than was reserved: later ones wait for it.
    (await limits.reserve(stored, { promptTokens: 1, answerTokens: 4 })).settle(105);
    await assert.rejects(limits.reserve(stored, { promptTokens: 1, answerTokens: 0 }), refused(/0 are left/, 30_600));
    pass(600_000);
    const more100 = refused(/250 tokens a day, of which 100/);
    await assert.rejects(limits.reserve(stored, { promptTokens: 100, answerTokens: 1 }), more100);
    (await limits.reserve(stored, { promptTokens: 100, answerTokens: 0 })).settle(100);
    const more1 = refused(/daily quota of 250 tokens/);
    await assert.rejects(limits.reserve(stored, { promptTokens: 1, answerTokens: 0 }), more1);
    pass(12 * 3_600_000);
    await limits.reserve(stored, { promptTokens: 1, answerTokens: 0 });
  });

  it('refuse what no wait makes possible, and say so', async () => {
    await using world = await scene();
    for (const [promptTokens, message] of [
      [101, /100 tokens a minute; the request needs 101/],
      [251, /250 tokens a day, of which 250 are left; the request needs 251/],
    ] as const)
      await assert.rejects(world.limits.reserve(world.stored, { promptTokens, answerTokens: 0 }), (error) => {
        assert.ok(error instanceof CompletionError && message.test(error.message));
        assert.deepEqual([error.headers['x-should-retry'], error.retryAfterMs], ['false', undefined]);
        return true;
      });
  });

  it('per day are not reset when the clock is set back, and survive a restart', async () => {
    await using world = await scene();
    const { store, limits, stored, pass } = world;
    const one = { promptTokens: 1, answerTokens: 0 };
    // An answer that is not recorded is not counted.
    (await limits.reserve(stored, one)).settle(250)();
    pass(600_000);
    (await limits.reserve(stored, one)).settle(250);
    pass(-24 * 3_600_000);
    await assert.rejects(limits.reserve(stored, one), refused(/daily quota of 250 tokens/));
    const used = { keyId: stored.id, model: 'm', day: '2026-01-01', cachedTokens: 0 };
    await store.answers.enter(1, [{ ...used, promptTokens: 1, completionTokens: 249 }]);
    for (const day of ['2026-01-01', '2025-12-31']) {
      const again = limitsOn(store, () => new Date(`${day}T12:00:00Z`));
      await assert.rejects(again.reserve(stored, one), refused(/daily quota of 250 tokens/, 43_200_000));
    }
  });

  it('do not exist for an unlimited key', async () => {
    await using world = await scene();
    const { store, limits } = world;
    const { stored } = await store.keys.create({ tier: 'unlimited' });
    for (let i = 0; i < 100; i += 1) assert.deepEqual(await limits.takeRequest(stored), {});
    assert.deepEqual((await limits.reserve(stored, { promptTokens: 1e9, answerTokens: 0 })).headers, {});
  });

  it('report times in the format of OpenAI’s headers', () => {
    const texts = [1, 999, 1_000, 61_000, 3_600_000, 3_661_500].map(durationText);
    assert.deepEqual(texts, ['1ms', '999ms', '1s', '1m1s', '1h0m0s', '1h1m2s']);
  });
});
