import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DAY_MS } from '@strata/analytics';
import { createLogger } from '@strata/http';
import { casesOf, until } from '../../../../tests/support/index.ts';
import { evidenceAt, recordMentions, recordScan } from '../test/index.ts';
import { openStore } from './index.ts';
import { PlausibleClock } from './plausible-clock.ts';
import { dropOldHistory, nextBatch } from './retention.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const UNLIMITED = {
  ...{ onDemand: undefined, changes: undefined, alerts: undefined, anomalies: undefined },
  ...{ events: undefined, stream: undefined, feedItems: undefined },
};

it('old history is dropped in batches that are small enough for their table, with pauses four times as long', () => {
  for (const [tookMs, limit, next, pauseMs] of casesOf<[number, number, number, number][]>('stack', 'batches'))
    assert.deepEqual(nextBatch(tookMs, { limit, maxLimit: 500 }), { limit: next, pauseMs });
  assert.equal(nextBatch(100, { limit: 12, maxLimit: 50 }).limit, 10);
});

it('old history is dropped in batches after the time that the settings say, until the service stops; failures are logged', async (t) => {
  await using store = await openStore('sqlite::memory:');
  await store.domains.add(['a.com'], { source: 'list' });
  await recordScan(store, evidenceAt({ domain: 'b.com', ns: ['ns1.own.test'] }, NOW - 700 * DAY_MS));
  for (let day = 699; day >= 0; day -= 1)
    await recordScan(store, evidenceAt({ domain: 'a.com', ns: ['ns1.own.test'] }, NOW - day * DAY_MS));
  await store.signals.setWatched({ seq: await store.events.latestSeq(), day: 0 });
  const lines: string[] = [];
  const logger = createLogger({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  await recordMentions(store, 'https://a.test/', ['c.com'], NOW - 40 * DAY_MS);
  const stopping = new AbortController();
  const parts = { store, logger, now: () => new Date(NOW), clock: () => new Date(NOW) };
  const after = { events: DAY_MS, scans: 90 * DAY_MS, onDemand: 90 * DAY_MS, feedItems: 30 * DAY_MS };
  const retention = { ...UNLIMITED, ...after };
  // The first are events.
  t.mock.method(store.retention, 'prune', () => Promise.reject(new Error('damaged')), { times: 1 });
  const task = dropOldHistory({ ...parts, retention }, stopping.signal);
  await until(async () => (await store.inspection.counts()).scans === 91);
  await until(async () => (await store.domains.profile('b.com')) === undefined);
  await until(async () => (await store.feeds.summary()).items === 0);
  await until(() => lines.length === 1, { what: 'events could not be dropped' });
  stopping.abort();
  await task;
  await using closed = await openStore('sqlite::memory:');
  await closed[Symbol.asyncDispose]();
  const failing = new AbortController();
  const failed = dropOldHistory({ ...parts, store: closed, retention: { ...UNLIMITED, scans: 1 } }, failing.signal);
  await until(() => lines.filter((line) => line.includes('old history could not be dropped')).length === 2);
  failing.abort();
  await failed;
});

it('old history stays while the clock is days ahead, after a scan and a restart by that clock too, until it was so for a day', async () => {
  await using store = await openStore('sqlite::memory:');
  await store.domains.add(['a.com'], { source: 'list' });
  for (let day = 20; day >= 0; day -= 1)
    await recordScan(store, evidenceAt({ domain: 'b.com', ns: ['ns1.own.test'] }, NOW - day * DAY_MS));
  await recordMentions(store, 'https://a.test/', ['c.com'], NOW);
  const ahead = () => new Date(NOW + 120 * DAY_MS);
  const after = { scans: 90 * DAY_MS, onDemand: 90 * DAY_MS, feedItems: 30 * DAY_MS, stream: 90 * DAY_MS };
  const retention = { ...UNLIMITED, ...after };
  const pass = async (clock: () => Date) => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const stopping = new AbortController();
    const sizes = async (at: Date) => {
      await store.retention.recordSizes(at);
      stopping.abort();
    };
    const watched = new Proxy(store.retention, {
      get: (table, name) => (name === 'recordSizes' ? sizes : Reflect.get(table, name).bind(table)),
    });
    const own = { stream: store.stream, feeds: store.feeds, retention: watched };
    await dropOldHistory({ store: own, retention, logger, now: clock, clock }, stopping.signal);
    return lines;
  };
  assert.deepEqual(await pass(() => new Date(NOW)), []);
  for (const expected of [21, 22]) {
    assert.match((await pass(ahead)).join(''), /the clock is more than a day past/);
    assert.equal((await store.inspection.counts()).scans, expected);
    assert.ok(await store.domains.profile('b.com'));
    assert.equal((await store.feeds.summary()).items, 1);
    await recordScan(store, evidenceAt({ domain: 'b.com', ns: ['ns1.own.test'] }, ahead().getTime()));
  }
  let steadyMs = 0;
  const plausible = new PlausibleClock(store.retention, () => steadyMs);
  for (const [days, isRefused] of [[0, true] as const, [0.9, true] as const, [1, false] as const]) {
    steadyMs = days * DAY_MS;
    assert.equal((await plausible.refusedBy(new Date(NOW + 120 * DAY_MS + steadyMs))) !== undefined, isRefused);
  }
});
