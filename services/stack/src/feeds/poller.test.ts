// The poller against a store and an asker that answers at once: bounds, backoff, stops, hosts that are slow or asked
// too often, other processes, and clocks that are wrong. Kills: ../store/kill.full.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Ask, type FeedAnswer, pollFeed } from '@strata/feeds';
import { temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { openStore } from '../store/index.ts';
import { NOTHING, readsOne, runDue, setUp, subscribe, subscribeTo, T0, withStore } from '../test/polling.ts';
import { HostQueue } from './host-queue.ts';
import { Delay } from './poll-loop.ts';
import type { PollerDeps } from './poller.ts';
import { Backoffs } from './poller.ts';

const HOUR_MS = 3_600_000;
const A = 'https://a.test/';

function answer(url: string, status: number, headers: Record<string, string> = {}): FeedAnswer {
  const body = Buffer.from('<rss version="2.0"><channel><title>t</title><item><guid>1</guid></item></channel></rss>');
  return { kind: 'answered', status, headers, url, redirects: [], body, isTruncated: false };
}

describe('the poller', () => {
  withStore('polls what is due, each feed once, and nothing before it is due again', async (store) => {
    await subscribe(store, 'https://a.test/1', 'https://a.test/2', 'https://b.test/1');
    const { poller, pass } = setUp(store);
    const done: string[] = [];
    const due = () => runDue(poller, ({ state }, result) => done.push(`${state.url} ${result}`));
    await due();
    assert.deepEqual(done.sort(), ['https://a.test/1 read', 'https://a.test/2 read', 'https://b.test/1 read']);
    await due();
    assert.equal(done.length, 3);
    pass(HOUR_MS);
    await due();
    assert.equal(done.length, 6);
    assert.deepEqual(poller.counts(), { polls: 6, failed: 0, unchanged: 0, items: 3, mentions: 3 });
  });

  withStore('asks so many at once and no more, and fewer of one host, which keeps no other waiting', async (store) => {
    await subscribeTo(store, 120, (i) => `https://large.test/${i}`);
    await subscribeTo(store, 60, (i) => `https://small-${i}.test/`);
    const inProgress: string[] = [];
    const order: string[] = [];
    let [maxTotal, maxOfOne] = [0, 0];
    const ask: Ask = async (url) => {
      const { host } = new URL(url);
      inProgress.push(host);
      maxTotal = Math.max(maxTotal, inProgress.length);
      maxOfOne = Math.max(maxOfOne, inProgress.filter((each) => each === host).length);
      await delay(2);
      inProgress.splice(inProgress.indexOf(host), 1);
      order.push(host);
      return NOTHING;
    };
    await runDue(setUp(store, { ask, concurrency: 8 }).poller);
    assert.deepEqual([maxTotal, maxOfOne, order.length], [8, 2, 180]);
    assert.ok(order.lastIndexOf('small-59.test') < 110, 'the small ones did not wait for the large one');
  });

  withStore('stops at once, records nothing of polls in progress, and leaves them due', async (store) => {
    await subscribeTo(store, 30);
    let asked = 0;
    const ask: Ask = (_url, { signal }) => {
      asked += 1;
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(NOTHING), { once: true }));
    };
    const { poller } = setUp(store, { ask, idleMs: 60_000 });
    const stopping = new AbortController();
    const running = poller.run(stopping.signal);
    await until(() => asked === 16);
    const startedAt = performance.now();
    stopping.abort();
    await running;
    assert.ok(performance.now() - startedAt < 30_000, 'before the poller would wake');
    assert.deepEqual([await store.feeds.schedule.countDue(new Date(T0)), poller.counts().polls], [30, 0]);
    await poller.run(AbortSignal.abort());
  });

  withStore('goes on when a poll or the store fails, and does not ask again at once', async (store) => {
    await subscribe(store, 'https://bad.test/', 'https://again.test/', 'https://good.test/');
    let asked = 0;
    const poll: PollerDeps['poll'] = async (state, options) => {
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
});

withStore('one host that is slow and has thousands of feeds keeps no other out', async (store) => {
  await subscribeTo(store, 12_500, (i) => `https://slow.test/${i}`);
  await subscribe(store, 'https://other.test/feed');
  const stopping = new AbortController();
  let [reads, asked] = [0, 0];
  const ask: Ask = async (url, { signal }) => {
    asked += 1;
    if (url.startsWith('https://other')) stopping.abort();
    else if (!signal?.aborted) await once(signal ?? assert.fail(), 'abort');
    return NOTHING;
  };
  const { schedule } = store.feeds;
  const due = schedule.due.bind(schedule);
  schedule.due = async (...args) => {
    const rows = await due(...args);
    reads += rows.length;
    return rows;
  };
  const late = AbortSignal.timeout(30_000);
  await setUp(store, { ask, idleMs: 10 }).poller.run(AbortSignal.any([stopping.signal, late]));
  assert.ok(stopping.signal.aborted, 'the other was never asked');
  assert.ok(reads < 40_000, `${reads} rows were read`);
  assert.ok(asked <= 3, `${asked} were asked`);
});
it('one host that says that it is asked too often is left alone with all its feeds, for as long as it says', async () => {
  await using store = await openStore('sqlite::memory:');
  await subscribeTo(store, 50, (i) => `https://busy.test/${i}`);
  await subscribe(store, 'https://other.test/feed');
  const asked = { busy: 0, other: 0 };
  const ask: Ask = async (url) => {
    const isBusy = url.includes('busy');
    asked[isBusy ? 'busy' : 'other'] += 1;
    return isBusy ? answer(url, 429, { 'retry-after': '1800' }) : answer(url, 200);
  };
  const { poller, pass } = setUp(store, { ask, poll: pollFeed });
  await runDue(poller);
  const { busy, other } = asked;
  assert.ok(busy <= 2 && other === 1, `${busy} ${other}`);
  for (const isAskedAgain of [false, true]) {
    pass(HOUR_MS / 4);
    await runDue(poller);
    assert.equal(asked.busy > busy, isAskedAgain);
  }
});
it('polls are shared between processes: a feed is asked by one of them', async () => {
  await using directory = await temporaryDirectory();
  const url = `sqlite:${path.join(directory.path, 'x.db')}`;
  await using one = await openStore(url);
  await using two = await openStore(url);
  await subscribeTo(one, 100);
  const asked: string[] = [];
  const ask: Ask = async (url) => {
    asked.push(url);
    return delay(10, NOTHING);
  };
  await Promise.all([one, two].map((store) => runDue(setUp(store, { ask }).poller)));
  assert.deepEqual([asked.length, new Set(asked).size], [100, 100]);
});

withStore('polls are recorded though what follows from them fails', async (store) => {
  await subscribe(store, A);
  const results: string[] = [];
  const scan = () => Promise.reject(new Error('busy'));
  await runDue(setUp(store, { scan }).poller, (_, result) => results.push(result));
  assert.deepEqual(results, ['read']);
});
it('polls are not more than one a minute when the clock goes back, and do not wait until it has caught up', async () => {
  await using store = await openStore('sqlite::memory:');
  await subscribe(store, A);
  let asked = 0;
  const ask: Ask = async (url) => {
    asked += 1;
    return answer(url, 200);
  };
  const { poller, pass } = setUp(store, { ask, poll: pollFeed });
  await runDue(poller);
  for (const backMs of [HOUR_MS, HOUR_MS / 12]) {
    pass(-backMs);
    await store.feeds.schedule.markAllDue();
    const before = asked;
    for (let second = 0; second < 30; second += 1) {
      await runDue(poller);
      pass(1_000);
    }
    assert.equal(asked - before, 1);
  }
  pass(-365 * 24 * HOUR_MS);
  await runDue(poller);
  assert.equal(asked, 4);
  const { nextPollAt = 0 } = (await store.feeds.find(A))?.state ?? {};
  assert.ok(nextPollAt < T0 - 364 * 24 * HOUR_MS);
});
it('the parts of the poller serve hosts round-robin, and drop queued feeds of a host in backoff', () => {
  const resting = new Set<string>();
  const queue = new HostQueue({ perHost: 1, isBackingOff: (host) => resting.has(host) });
  for (const [id, host] of ['a', 'a', 'a', 'b', 'c'].entries())
    assert.ok(queue.put({ id, url: `https://${host}.test/` }));
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.take()], [0, 3, 4, undefined]);
  queue.release(0);
  assert.deepEqual([queue.take(), queue.waiting], [1, 1]);
  resting.add('a.test');
  queue.release(1);
  assert.deepEqual([queue.take(), queue.waiting, queue.has(2)], [undefined, 0, false]);
  const put = Array.from({ length: 60 }, (_, i) => queue.put({ id: 10 + i, url: 'not an address' }));
  assert.equal(put.filter(Boolean).length, 50);
});
it('the parts of the poller hear an end that comes before the wait', async () => {
  const pause = new Delay();
  pause.end();
  await pause.begin(undefined);
  const waiting = pause.begin(undefined);
  pause.end();
  await waiting;
});
it('the parts of the poller rest no longer than they may, whatever the clock does', () => {
  let now = T0;
  const backoffs = new Backoffs<string>(() => new Date(now), { maxMs: 1_000 });
  backoffs.begin('a', 10_000);
  backoffs.begin('a', 10);
  assert.equal(backoffs.has('a'), true);
  now -= HOUR_MS;
  assert.equal(backoffs.has('a'), false);
  backoffs.begin('a', 10_000);
  now += 1_000;
  assert.equal(backoffs.has('a'), false);
});
