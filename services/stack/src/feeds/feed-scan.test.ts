// What feeds name comes to the scan, each domain once, also when the day was full or the step broke off.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore, type Store } from '@strata/store';
import { recordMentions, T0 } from '../test/polling.ts';
import { createFeedScan } from './feed-scan.ts';

const URL = 'https://a.test/feed';

function scanOf(store: Pick<Store, 'feeds' | 'addDomains'>, perDay: number) {
  let now = T0;
  const isOptedOut = (domain: string) => domain === 'out.test';
  const scan = createFeedScan({ store, isOptedOut, now: () => new Date(now), perDay });
  return { scan, pass: (ms: number) => (now += ms) };
}

const tracked = async (store: Store, names: readonly string[]) => {
  const found: string[] = [];
  for (const name of names) if (await store.isTracked(name)) found.push(name);
  return found;
};

describe('what feeds name', () => {
  it('is scanned, but for what opted out, and what is too much for a day on the next', async () => {
    await using store = await openStore('sqlite::memory:');
    const names = Array.from({ length: 12 }, (_, i) => `d${i}.test`);
    await recordMentions(store, URL, ['out.test', ...names]);
    const { scan, pass } = scanOf(store, 8);
    await Promise.all([scan(), scan(), scan()]);
    assert.equal((await tracked(store, names)).length, 8);
    await scan();
    assert.equal((await tracked(store, names)).length, 8);
    pass(86_400_000);
    await scan();
    assert.deepEqual(await tracked(store, ['out.test', ...names]), names);
    assert.deepEqual(await store.feeds.offers.waiting(10), []);
  });

  it('comes up again when the step broke off', async () => {
    await using store = await openStore('sqlite::memory:');
    await recordMentions(store, URL, ['x.test']);
    const broken = { feeds: store.feeds, addDomains: () => Promise.reject(new Error('busy')) };
    await assert.rejects(scanOf(broken, 8).scan());
    await scanOf(store, 8).scan();
    assert.deepEqual(await tracked(store, ['x.test']), ['x.test']);
  });

  it('is dealt with in pieces', async () => {
    await using store = await openStore('sqlite::memory:');
    const names = Array.from({ length: 1_300 }, (_, i) => `d${i}.test`);
    await recordMentions(store, URL, names.slice(0, 900));
    await recordMentions(store, URL, names.slice(900));
    await scanOf(store, 10_000).scan();
    assert.equal((await store.counts()).domains, 1_300);
  });
});
