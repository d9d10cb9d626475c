// The poller against a store and an asker that answers at once: bounds, backoff, stops. Kills, and thousands of feeds:
// poller.full.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ask } from '@strata/feeds';
import { openStore } from '@strata/store';
import { until } from '../../../../tests/support/until.ts';
import { NOTHING, readsOne, runDue, setUp, subscribe, subscribeTo, T0 } from '../test/polling.ts';
import type { PollerParts } from './poller.ts';

describe('the poller', () => {
  it('polls what is due, each feed once, and nothing before it is due again', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribe(store, 'https://a.test/1', 'https://a.test/2', 'https://b.test/1');
    const { poller, pass } = setUp(store);
    const done: string[] = [];
    const due = () => runDue(poller, ({ state }, result) => done.push(`${state.url} ${result}`));
    await due();
    assert.deepEqual(done.sort(), ['https://a.test/1 read', 'https://a.test/2 read', 'https://b.test/1 read']);
    await due();
    assert.equal(done.length, 3);
    pass(3_600_000);
    await due();
    assert.equal(done.length, 6);
    assert.deepEqual(poller.counts(), { polls: 6, failed: 0, unchanged: 0, items: 3, mentions: 3 });
  });

  it('asks so many at once and no more, and fewer of one host, which keeps no other waiting', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribeTo(store, 120, (i) => `https://large.test/${i}`);
    await subscribeTo(store, 60, (i) => `https://small-${i}.test/`);
    const underWay: string[] = [];
    const order: string[] = [];
    let [mostInAll, mostOfOne] = [0, 0];
    const ask: Ask = async (url) => {
      const { host } = new URL(url);
      underWay.push(host);
      mostInAll = Math.max(mostInAll, underWay.length);
      mostOfOne = Math.max(mostOfOne, underWay.filter((each) => each === host).length);
      await delay(2);
      underWay.splice(underWay.indexOf(host), 1);
      order.push(host);
      return NOTHING;
    };
    await runDue(setUp(store, { ask, concurrency: 8 }).poller);
    assert.deepEqual([mostInAll, mostOfOne, order.length], [8, 2, 180]);
    assert.ok(order.lastIndexOf('small-59.test') < 110, 'the small ones did not wait for the large one');
  });

  it('stops at once, records nothing of what was under way, and leaves it due', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribeTo(store, 30);
    const ask: Ask = (_url, { signal }) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve(NOTHING), { once: true }));
    const { poller } = setUp(store, { ask });
    const stopping = new AbortController();
    const running = poller.run(stopping.signal);
    await delay(20);
    const startedAt = performance.now();
    stopping.abort();
    await running;
    assert.ok(performance.now() - startedAt < 500);
    assert.deepEqual([await store.feeds.countDue(new Date(T0)), poller.counts().polls], [30, 0]);
    await poller.run(AbortSignal.abort());
  });

  it('goes on when a poll or the store fails, and does not ask again at once', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribe(store, 'https://bad.test/', 'https://again.test/', 'https://good.test/');
    let asked = 0;
    const poll: PollerParts['poll'] = async (state, options) => {
      asked += 1;
      if (state.url.includes('bad')) throw new Error('a mistake of ours');
      const outcome = await readsOne(state, options);
      return state.url.includes('again') ? { ...outcome, state: { ...outcome.state, nextPollAt: 0 } } : outcome;
    };
    const { poller, pass } = setUp(store, { poll, idleMs: 10 });
    const stopping = new AbortController();
    const running = poller.run(stopping.signal);
    const askedTimes = async (times: number) => {
      await until(() => asked >= times);
      // Several times as long as the poller sleeps when nothing is due.
      await delay(50);
      assert.equal(asked, times);
    };
    await askedTimes(3);
    pass(61_000);
    await askedTimes(5);
    stopping.abort();
    await running;
  });

  it('takes up what becomes due while it runs', async () => {
    await using store = await openStore('sqlite::memory:');
    const { poller } = setUp(store, { idleMs: 10 });
    const stopping = new AbortController();
    const running = poller.run(stopping.signal);
    await subscribe(store, 'https://late.test/');
    await until(() => poller.counts().polls === 1);
    stopping.abort();
    await running;
  });
});
