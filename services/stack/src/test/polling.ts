// Pollers for tests: over a store, with a clock that the test moves and polls that read one item each.
import { it } from 'node:test';
import { type FeedAnswer, newFeed, type PollOutcome } from '@strata/feeds';
import { createLogger } from '@strata/http';
import { EventBus } from '../events.ts';
import { createPoller, type FeedPoller, type PollerDeps } from '../feeds/poller.ts';
import { openStore, type Store } from '../store/index.ts';

export const T0 = Date.parse('2026-03-01T12:00:00Z');
export const NOTHING: FeedAnswer = { kind: 'failed', reason: 'failed', detail: 'not asked' };

/** A poll that reads one new item of each feed and is due again in an hour. */
export async function readsOne(...[state, { ask, now, signal }]: Parameters<PollerDeps['poll']>): Promise<PollOutcome> {
  await ask(state.url, { headers: {}, maxBytes: 1, timeoutMs: 1, ...(signal ? { signal } : {}) });
  signal?.throwIfAborted();
  const domains = [{ domain: 'x.com', kind: 'link' as const }];
  const items = [{ key: 'k', url: null, title: null, publishedAt: now, domains }];
  const schedule = { ttlMs: null, skipHours: [], skipDays: [] };
  const read = { format: 'rss', title: null, siteUrl: null, items, skipped: 0, ...schedule } as const;
  return { kind: 'read', state: { ...state, nextPollAt: now + 3_600_000 }, feed: read };
}

/** A test with an empty store of its own. */
export function withStore(name: string, check: (store: Store) => Promise<void>): void {
  it(name, async () => {
    await using store = await openStore('sqlite::memory:');
    await check(store);
  });
}

export function setUp(store: Store, more: Partial<PollerDeps> & { concurrency?: number; idleMs?: number } = {}) {
  const { concurrency = 16, idleMs, ...parts } = more;
  let now = T0;
  const logger = createLogger({ level: 'silent' });
  const outside = { ask: async () => NOTHING, now: () => new Date(now), random: () => 0.5 };
  const poller = createPoller(
    { store, poll: readsOne, logger, events: new EventBus(logger), scan: async () => {}, ...outside, ...parts },
    { concurrency, keepMs: 400 * 86_400_000, ...(idleMs && { idleMs }) },
  );
  return { poller, pass: (ms: number) => (now += ms) };
}

export function subscribe(store: Store, ...urls: readonly string[]) {
  const feeds = urls.map((url) => ({ url }));
  return store.feeds.add(feeds, new Date(T0));
}
/** So many feeds; each is on a host of its own by default. */
export const subscribeTo = (store: Store, count: number, urlOf = (i: number) => `https://h${i}.test/`) =>
  subscribe(store, ...Array.from({ length: count }, (_, i) => urlOf(i)));
/** Writes down a poll of one feed that named these domains, each in an item of its own. */
export async function recordMentions(store: Store, url: string, domains: readonly string[], at = T0): Promise<void> {
  await store.feeds.add([{ url }], new Date(at));
  const { id = 0 } = (await store.feeds.find(url)) ?? {};
  const items = domains.map((domain) => ({
    ...{ key: `${at} ${domain}`, url: null, title: null, publishedAt: null },
    domains: [{ domain, kind: 'link' as const }],
  }));
  const options = { at: new Date(at), keepFrom: new Date(0) };
  await store.feeds.record(id, { state: newFeed(url), feed: { items } }, options);
}

/** Polls what is due. */
export const runDue = (poller: FeedPoller, onDone: Parameters<FeedPoller['runDue']>[0]['onDone'] = () => {}) =>
  poller.runDue({ onDone, signal: new AbortController().signal });
