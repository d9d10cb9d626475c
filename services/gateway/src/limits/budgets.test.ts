// Limits of keys and teams, reserved by several gateways of one database.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rows } from '../../../../tests/support/database/backends.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { type Account, type Charge, costOf, type Policy, type Price } from '../store/access/policy.ts';
import type { GatewayStore } from '../store/index.ts';
import { kept, onEach } from '../store/test/backends.ts';
import { Budgets } from './budgets.ts';
import { TokenQuota } from './token-quota.ts';

const COSTS: readonly [Price, prompt: number, cached: number, completion: number, cost: number][] = casesOf(
  'gateway',
  'costs of answers',
);
it('an answer costs the price of its tokens, rounded up to a millionth', () => {
  for (const [price, promptTokens, cachedTokens, completionTokens, cost] of COSTS)
    assert.equal(costOf(price, { promptTokens, cachedTokens, completionTokens }), cost);
  assert.equal(costOf(null, { promptTokens: 1, cachedTokens: 0, completionTokens: 1 }), 0);
});

const NONE: Policy = { models: null, tokensPerDay: null, spend: null };
/** A token costs one millionth. */
const PRICE = { input: 1_000_000, cached: 1_000_000, output: 1_000_000 };
const spend = (micros: number, period: 'day' | 'month' | 'total' = 'month') => ({ micros, period });
const exhausted = (message: RegExp) => ({ kind: 'insufficient_quota', status: 429, message });

/** Two gateways of one database, at a time that the test sets. */
async function scene(store: GatewayStore, { team = NONE, key = NONE }: { team?: Policy; key?: Policy }) {
  const clock = { now: new Date('2026-01-31T23:00:00Z') };
  const warned: Promise<boolean>[] = [];
  const now = () => clock.now;
  await store.teams.setPrice('m', PRICE);
  await store.teams.set('research', team);
  const ids = [await store.gateways.add(), await store.gateways.add()];
  const gateways = await Promise.all(
    ids.map(async (id) => {
      const tokens = new TokenQuota({ reservations: store.tokens, gateway: () => id });
      const onWarning = (account: Account, day: string) => warned.push(store.audit.warn(account, day));
      const budgets = new Budgets({ tokens, teams: store.teams, now, onWarning });
      await budgets.refresh();
      return { budgets, answers: store.answersOf(() => id), [Symbol.dispose]: () => tokens[Symbol.dispose]() };
    }),
  );
  const newKey = async () => (await store.keys.create({ tier: 'unlimited', team: 'research', policy: key })).stored;
  const keys = [await newKey(), await newKey()];
  const of = (gateway: number, of = 0) => ({
    ...gateways[gateway],
    reserve: async (tokens: number, model = 'm') =>
      gateways[gateway]?.budgets.reserve(keys[of] ?? assert.fail(), { promptTokens: tokens, answerTokens: 0 }, model),
    /** An answer is over: its usage is counted, instead of its reservation. */
    enter: async (tokens: number, charge: Charge) => {
      const usage = { promptTokens: tokens, cachedTokens: 0, completionTokens: 0 };
      const charged = { micros: costOf(charge.price, usage), accounts: charge.accounts };
      const day = clock.now.toISOString().slice(0, 10);
      await gateways[gateway]?.answers.enter(0, [
        { ...usage, model: 'm', day, keyId: keys[of]?.id ?? '', charge: charged },
      ]);
    },
  });
  return {
    ...{ clock, keys, gateways, of, warned },
    [Symbol.dispose]() {
      for (const gateway of gateways) gateway[Symbol.dispose]();
    },
  };
}

onEach(kept, 'limits of keys and teams', (_backend, test) => {
  test('hold to the millionth under parallel requests to two gateways; both must have the amount', async (store) => {
    using world = await scene(store, { key: { ...NONE, spend: spend(600) }, team: { ...NONE, tokensPerDay: 1_000 } });
    const asked = Array.from({ length: 40 }, (_, i) => world.of(i % 2, i % 4 < 2 ? 0 : 1).reserve(100));
    const settled = await Promise.allSettled(asked);
    const held = settled.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
    assert.equal(held.length, 10);
    for (const each of settled) if (each.status === 'rejected') assert.equal(each.reason.kind, 'insufficient_quota');
    await assert.rejects(
      world.of(0).reserve(100),
      exhausted(/team may use 1000 tokens a day|limit is to spend 0.0006/),
    );
    // One gives its reservation back, and uses a part of it.
    held[0]?.settle(40, 40);
    await world.of(0, 0).enter(40, held[0]?.charge ?? assert.fail());
    await assert.rejects(world.of(0).reserve(100), exhausted(/./));
  });

  test('warn once a period for all gateways', async (store) => {
    using world = await scene(store, { team: { ...NONE, spend: { ...spend(100), warning: 50 } } });
    const { clock, of, warned } = world;
    await of(0).reserve(40);
    assert.equal(warned.length, 0);
    for (const gateway of [0, 0, 1]) await of(gateway).reserve(10);
    assert.deepEqual((await Promise.all(warned)).sort(), [false, true]);
    clock.now = new Date('2026-02-01T00:00:00Z');
    await of(0).reserve(50);
    assert.equal(await warned[2], true);
    const [{ target, after } = assert.fail()] = await store.audit.list({ limit: 1 });
    assert.deepEqual([target, after], ['research', { spend: { ...spend(100), warning: 50 }, until: '2026-02-28' }]);
  });

  test('count what an answer has cost in the period in which it ends, and reset at the end of the period', async (store) => {
    using world = await scene(store, { key: { ...NONE, spend: spend(100), tokensPerDay: 80 } });
    const { clock, of } = world;
    const first = (await of(0).reserve(60)) ?? assert.fail();
    await assert.rejects(
      of(0).reserve(50),
      exhausted(/limit is to use 80 tokens a day \(UTC\), of which 20 tokens is left/),
    );
    first.settle(30, 30);
    await of(0).enter(30, first.charge);
    const late = (await of(0).reserve(50)) ?? assert.fail();
    clock.now = new Date('2026-02-01T00:00:00Z');
    late.settle(50, 50);
    await of(0).enter(50, late.charge);
    await assert.rejects(of(0).reserve(60), exhausted(/80 tokens a day/));
    clock.now = new Date('2026-02-02T00:00:00Z');
    // 50 of February's 100 are spent.
    await assert.rejects(of(0).reserve(60), {
      ...exhausted(/spend 0.0001 a month \(UTC\), of which 0.00005 is left; the request needs up to 0.00006/),
      retryAfterMs: 27 * 86_400_000,
    });
    (await of(0).reserve(50))?.settle(0, 0);
    clock.now = new Date('2026-03-01T00:00:00Z');
    (await of(0).reserve(80))?.settle(0, 0);
    const [row] = await store.answers.usage({ since: '2026-02-01' });
    assert.deepEqual([row?.spendMicros, row?.promptTokens], [50, 50]);
  });

  test('of a total never reset, of a team hold for all of its keys, and a request above a limit is not retried', async (store) => {
    using world = await scene(store, { team: { ...NONE, spend: spend(100, 'total') } });
    const { clock, of } = world;
    const first = (await of(0, 0).reserve(70)) ?? assert.fail();
    first.settle(70, 70);
    await of(0, 0).enter(70, first.charge);
    clock.now = new Date('2030-01-01T00:00:00Z');
    await assert.rejects(of(1, 1).reserve(40), {
      ...exhausted(/team may spend 0.0001 \(UTC\), of which 0.00003 is left/),
      retryAfterMs: undefined,
    });
    await of(1, 1).reserve(30);
    await assert.rejects(of(0, 0).reserve(1), exhausted(/of which 0 is left/));
  });

  test('that are lowered or set later count what was used and reserved before', async (store, url) => {
    using world = await scene(store, { key: { ...NONE, spend: spend(1_000_000) } });
    const { of, keys } = world;
    const used = async (gateway: number, tokens: number) => {
      const held = (await of(gateway).reserve(tokens)) ?? assert.fail();
      held.settle(tokens, tokens);
      await of(gateway).enter(tokens, held.charge);
    };
    await used(0, 60);
    keys[0] = (await store.keys.change(keys[0]?.id ?? '', { spend: spend(100) })) ?? assert.fail();
    await assert.rejects(of(0).reserve(50), exhausted(/a month \(UTC\), of which 0.00004 is left/));
    keys[0] = (await store.keys.change(keys[0].id, { spend: spend(100, 'total') })) ?? assert.fail();
    await used(1, 30);
    await assert.rejects(of(0).reserve(20), exhausted(/of which 0.00001 is left/));
    await store.teams.set('research', { ...NONE, spend: spend(95, 'day') });
    const [key] = (await store.keys.list()).filter(({ id }) => id === keys[0]?.id);
    keys[0] = key ?? assert.fail();
    await assert.rejects(
      of(0).reserve(6),
      exhausted(/team may spend 0.000095 a day \(UTC\), of which 0.000005 is left/),
    );
    await used(0, 5);
    // A sum of each account of the answers since its first reservation, equal to the usage of the period.
    assert.deepEqual(await rows(url, 'select used from account_usage'), Array(3).fill({ used: 95 }));
  });

  test('refuse a model without a price only where spend is limited, and keep the price of the beginning', async (store) => {
    using world = await scene(store, { key: { ...NONE, spend: spend(1_000) } });
    await assert.rejects(world.of(0).reserve(1, 'unpriced'), { kind: 'unsupported_value', param: 'model' });
    const held = (await world.of(0).reserve(10)) ?? assert.fail();
    await store.teams.setPrice('*', { input: 0, cached: 0, output: 0 });
    await store.teams.setPrice('m', null);
    await world.gateways[0]?.budgets.refresh();
    assert.equal((await world.of(0).reserve(1, 'unpriced'))?.charge.price?.input, 0);
    assert.equal(held.charge.price?.input, PRICE.input);
    const { stored: plain } = await store.keys.create({ tier: 'unlimited' });
    const { budgets } = world.gateways[1] ?? assert.fail();
    await store.teams.setPrice('*', null);
    await budgets.refresh();
    assert.equal(await budgets.reserve(plain, { promptTokens: 1, answerTokens: 1 }, 'm'), undefined);
  });
});
