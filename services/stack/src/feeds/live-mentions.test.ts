// What feeds name is counted, also what another process writes and takes away, and comes to the scan, each domain once.
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@strata/http';
import { casesOf, temporaryDirectory } from '../../../../tests/support/index.ts';
import { EventBus } from '../events.ts';
import { openStore, type Store } from '../store/index.ts';
import { recordMentions, T0, withStore } from '../test/polling.ts';
import { createFeedScan, type FeedScanDeps } from './feed-scan.ts';
import { LiveMentions } from './live-mentions.ts';

const DAY_MS = 86_400_000;
const A = 'https://a.example/feed';

const name = (store: Store, domains: readonly string[], at = T0) => recordMentions(store, A, domains, at);
const logger = createLogger({ level: 'silent' });
const parts = { logger, now: () => new Date(T0), events: new EventBus(logger) };
const openLive = (store: Pick<Store, 'feeds'>, more: Partial<Parameters<typeof LiveMentions.open>[0]> = {}) =>
  LiveMentions.open({ ...parts, store, ...more });

/** The store's feeds, of which a page of mentions comes only after a wait. */
function withPages({ feeds }: Store, wait: () => Promise<void>): Store['feeds'] {
  const { mentions } = feeds;
  const slow = {
    epoch: () => mentions.epoch(),
    latestId: () => mentions.latestId(),
    since: (...given: Parameters<typeof mentions.since>) => mentions.since(...given),
    page: async (...given: Parameters<typeof mentions.page>) => {
      await wait();
      return mentions.page(...given);
    },
  };
  return Object.create(feeds, { mentions: { value: slow } });
}

it('a running tally counts at its start what the store has, then what another process writes, and forgets what that takes away', async () => {
  await using directory = await temporaryDirectory();
  const url = `sqlite:${path.join(directory.path, 'x.db')}`;
  await using mine = await openStore(url);
  await using theirs = await openStore(url);
  let now = T0;
  await name(theirs, ['old.com'], T0 - 70 * DAY_MS);
  await name(theirs, ['a.com', 'b.com'], T0 - DAY_MS);
  const published: (readonly string[] | undefined)[] = [];
  const events = new EventBus(logger);
  events.subscribe('mentions-counted', (domains) => published.push(domains && [...domains].sort()));
  await using live = await openLive(mine, { now: () => new Date(now), events });
  assert.equal(live.tally().size, 2);
  await live.catchUp();
  assert.deepEqual(published, []);

  await name(theirs, ['b.com', 'c.com']);
  await live.catchUp();
  assert.deepEqual(published, [['b.com', 'c.com']]);
  assert.deepEqual(live.tally().domain('b.com', 2).days, [1, 1]);
  await live.catchUp();
  assert.equal(published.length, 1, 'nothing is published twice');

  now += DAY_MS;
  await live.catchUp();
  assert.deepEqual(published.at(-1), undefined, 'with a new day anything may differ');
  assert.deepEqual(live.tally().domain('b.com', 2).days, [1, 0]);

  await theirs.feeds.remove(A);
  await live.catchUp();
  assert.deepEqual([published.length, published.at(-1), live.tally().size], [3, undefined, 0]);
  await name(theirs, ['d.com'], now);
  await live.catchUp();
  assert.deepEqual(published.at(-1), ['d.com']);
});

withStore('a running tally follows a clock that was wrong, ahead or behind, and loses nothing', async (store) => {
  let now = T0;
  await using live = await openLive(store, { now: () => new Date(now) });
  const today = async () => {
    await live.catchUp();
    return ['a.com', 'b.com', 'c.com'].map((domain) => live.tally().domain(domain, 1).days[0]);
  };
  // What lies ahead counts as of today.
  type Step = [afterMs: number, named: string[], counts: number[]];
  const steps = casesOf<Step[]>('stack', 'mentions under a wrong clock');
  for (const [afterMs, named, counts] of steps) {
    now = T0 + afterMs;
    if (named.length > 0) await name(store, named, now);
    assert.deepEqual(await today(), counts);
  }
});

withStore('a running tally is recounted behind the update that requests it, which waits briefly', async (store) => {
  await name(store, ['a.com']);
  let gate = Promise.resolve();
  const feeds = withPages(store, () => gate);
  await using live = await openLive({ feeds });
  const { promise, resolve: open } = Promise.withResolvers<void>();
  gate = promise;
  await store.feeds.remove(A);
  await live.catchUp();
  assert.equal(live.tally().size, 1, 'the old tally is used during the recount');
  open();
  await live.catchUp();
  assert.equal(live.tally().size, 0);
});

withStore('a running tally is not recounted repeatedly if that takes long', async (store) => {
  await name(store, ['a.com']);
  let pages = 0;
  const feeds = withPages(store, () => {
    pages += 1;
    return delay(300);
  });
  await using live = await openLive({ feeds });
  assert.equal(pages, 2);
  await store.feeds.remove(A);
  await name(store, ['b.com']);
  await live.catchUp();
  assert.deepEqual([pages, live.tally().domain('b.com', 1).days[0]], [2, 1], 'the new mention is counted');
});

withStore('a running tally yields to the event loop while it reads what another process wrote', async (store) => {
  await using live = await openLive(store);
  const domains = Array.from({ length: 10_001 }, (_, i) => `d${i}.com`);
  await name(store, domains);
  let slices = 0;
  let timer = setImmediate(function turn() {
    slices += 1;
    timer = setImmediate(turn);
  });
  while (live.tally().size < domains.length) await live.catchUp();
  clearImmediate(timer);
  assert.ok(slices >= 2, `${slices} slices`);
});

describe('what feeds name', () => {
  function scanOf(store: FeedScanDeps['store'], perDay: number) {
    let now = T0;
    const isOptedOut = (domain: string) => domain === 'out.test';
    const scan = createFeedScan({ store, isOptedOut, now: () => new Date(now), perDay });
    return { scan, pass: (ms: number) => (now += ms) };
  }
  const tracked = async (store: Store, names: readonly string[]) => {
    const areTracked = await Promise.all(names.map((each) => store.domains.isTracked(each)));
    return names.filter((_, i) => areTracked[i]);
  };

  withStore('is scanned, but for what opted out, and what is too much for a day on the next', async (store) => {
    const names = Array.from({ length: 12 }, (_, i) => `d${i}.test`);
    await name(store, ['out.test', ...names]);
    const { scan, pass } = scanOf(store, 8);
    await Promise.all([scan(), scan(), scan()]);
    assert.equal((await tracked(store, names)).length, 8);
    await scan();
    assert.equal((await tracked(store, names)).length, 8);
    pass(DAY_MS);
    await scan();
    assert.deepEqual(await tracked(store, ['out.test', ...names]), names);
    assert.deepEqual(await store.feeds.offers.waiting(10), []);
  });

  withStore('comes up again when the step broke off', async (store) => {
    await name(store, ['x.test']);
    const broken = { feeds: store.feeds, domains: { add: () => Promise.reject(new Error('busy')) } };
    await assert.rejects(scanOf(broken, 8).scan());
    await scanOf(store, 8).scan();
    assert.deepEqual(await tracked(store, ['x.test']), ['x.test']);
  });

  withStore('is dealt with in pieces', async (store) => {
    const names = Array.from({ length: 1_300 }, (_, i) => `d${i}.test`);
    await name(store, names.slice(0, 900));
    await name(store, names.slice(900));
    await scanOf(store, 10_000).scan();
    assert.equal((await store.inspection.counts()).domains, 1_300);
  });
});
