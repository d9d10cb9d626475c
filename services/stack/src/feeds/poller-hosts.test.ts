// What others depend on: hosts that are slow or asked too often, other processes, and clocks that are wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { type Ask, type FeedAnswer, pollFeed } from '@strata/feeds';
import { openStore } from '@strata/store';
import { temporaryDirectory } from '../test/harness.ts';
import { NOTHING, runDue, setUp, subscribe, subscribeTo, T0 } from '../test/polling.ts';
import { HostQueue } from './host-queue.ts';
import { Pause } from './pause.ts';
import { Rests } from './rests.ts';

const HOUR_MS = 3_600_000;

function answer(url: string, status: number, headers: Record<string, string> = {}): FeedAnswer {
  const body = Buffer.from('<rss version="2.0"><channel><title>t</title><item><guid>1</guid></item></channel></rss>');
  return { kind: 'answered', status, headers, url, redirects: [], body, isTruncated: false };
}

describe('one host', () => {
  it('that is slow and has thousands of feeds keeps no other out', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribeTo(store, 12_500, (i) => `https://slow.test/${i}`);
    await subscribe(store, 'https://other.test/feed');
    const stopping = new AbortController();
    let reads = 0;
    let asked = 0;
    const ask: Ask = async (url, { signal }) => {
      asked += 1;
      if (url.startsWith('https://other')) stopping.abort();
      else if (!signal?.aborted) await once(signal ?? assert.fail(), 'abort');
      return NOTHING;
    };
    const due = store.feeds.due.bind(store.feeds);
    store.feeds.due = async (...args) => {
      const rows = await due(...args);
      reads += rows.length;
      return rows;
    };
    const giveUp = setTimeout(() => stopping.abort(new Error('too late')), 30_000);
    await setUp(store, { ask, idleMs: 10 }).poller.run(stopping.signal);
    clearTimeout(giveUp);
    assert.notEqual(stopping.signal.reason?.message, 'too late', 'the other was never asked');
    assert.ok(reads < 40_000, `${reads} rows were read`);
    assert.ok(asked <= 3, `${asked} were asked`);
  });

  it('that says that it is asked too often is left alone with all its feeds, for as long as it says', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribeTo(store, 50, (i) => `https://busy.test/${i}`);
    await subscribe(store, 'https://other.test/feed');
    let [busy, other] = [0, 0];
    const ask: Ask = async (url) => {
      if (!url.includes('busy')) other += 1;
      else busy += 1;
      return url.includes('busy') ? answer(url, 429, { 'retry-after': '1800' }) : answer(url, 200);
    };
    const { poller, pass } = setUp(store, { ask, poll: pollFeed });
    await runDue(poller);
    assert.ok(busy <= 2 && other === 1, `${busy} ${other}`);
    const before = busy;
    pass(HOUR_MS / 4);
    await runDue(poller);
    assert.equal(busy, before);
    pass(HOUR_MS / 4);
    await runDue(poller);
    assert.ok(busy > before);
  });
});

describe('polls', () => {
  it('are shared between processes: a feed is asked by one of them', async () => {
    await using directory = await temporaryDirectory();
    const url = `sqlite:${path.join(directory.path, 'x.db')}`;
    await using one = await openStore(url);
    await using two = await openStore(url);
    await subscribeTo(one, 100);
    const asked: string[] = [];
    const ask: Ask = async (url) => {
      asked.push(url);
      await new Promise((resolve) => setTimeout(resolve, 10));
      return NOTHING;
    };
    await Promise.all([one, two].map((store) => runDue(setUp(store, { ask }).poller)));
    assert.deepEqual([asked.length, new Set(asked).size], [100, 100]);
  });

  it('are recorded though what follows from them fails', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribe(store, 'https://a.test/');
    const results: string[] = [];
    const onRecorded = () => Promise.reject(new Error('busy'));
    await runDue(setUp(store, { onRecorded }).poller, (_, result) => results.push(result));
    assert.deepEqual(results, ['read']);
  });

  it('are not more than one a minute when the clock goes back, and do not wait until it has caught up', async () => {
    await using store = await openStore('sqlite::memory:');
    await subscribe(store, 'https://a.test/');
    let asked = 0;
    const ask: Ask = async (url) => {
      asked += 1;
      return answer(url, 200);
    };
    const { poller, pass } = setUp(store, { ask, poll: pollFeed });
    await runDue(poller);
    for (const backMs of [HOUR_MS, HOUR_MS / 12]) {
      pass(-backMs);
      await store.feeds.askAll();
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
    const { nextPollAt = 0 } = (await store.feeds.find('https://a.test/'))?.state ?? {};
    assert.ok(nextPollAt < T0 - 364 * 24 * HOUR_MS);
  });
});

describe('the parts of the poller', () => {
  it('give each host its turn, and let go of what waits of one that rests', () => {
    const resting = new Set<string>();
    const queue = new HostQueue({ perHost: 1, isResting: (host) => resting.has(host) });
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

  it('hear an end that comes before the wait', async () => {
    const pause = new Pause();
    pause.end();
    await pause.begin(undefined);
    const waiting = pause.begin(undefined);
    pause.end();
    await waiting;
  });

  it('rest no longer than they may, whatever the clock does', () => {
    let now = T0;
    const rests = new Rests<string>(() => new Date(now), { mostMs: 1_000 });
    rests.begin('a', 10_000);
    rests.begin('a', 10);
    assert.equal(rests.has('a'), true);
    now -= HOUR_MS;
    assert.equal(rests.has('a'), false);
    rests.begin('a', 10_000);
    now += 1_000;
    assert.equal(rests.has('a'), false);
  });
});
