// Pollers for tests: over a store, with a clock that the test moves and polls that read one item each.
import type { FeedAnswer, PollOutcome } from '@strata/feeds';
import { createLogger } from '@strata/http';
import type { Store } from '@strata/store';
import { createPoller, type PollerParts } from '../feeds/poller.ts';

export const T0 = Date.parse('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;
const silent = createLogger({ level: 'silent' });
export const NOTHING: FeedAnswer = { kind: 'failed', reason: 'failed', detail: 'not asked' };

/** A poll that reads one new item of each feed and is due again in an hour. */
export async function readsOne(
  ...[state, { ask, now, signal }]: Parameters<PollerParts['poll']>
): Promise<PollOutcome> {
  await ask(state.url, { headers: {}, maxBytes: 1, timeoutMs: 1, ...(signal ? { signal } : {}) });
  signal?.throwIfAborted();
  const item = {
    key: 'k',
    url: null,
    title: null,
    publishedAt: now,
    domains: [{ domain: 'x.com', kind: 'link' as const }],
  };
  return {
    kind: 'read',
    state: { ...state, nextPollAt: now + 3_600_000 },
    feed: {
      format: 'rss',
      title: null,
      siteUrl: null,
      items: [item],
      skipped: 0,
      ttlMs: null,
      skipHours: [],
      skipDays: [],
    },
  };
}

export function setUp(
  store: Store,
  more: Partial<PollerParts> & { concurrency?: number; perHost?: number; idleMs?: number } = {},
) {
  const { concurrency = 16, perHost, idleMs, ...parts } = more;
  let now = T0;
  const poller = createPoller(
    {
      store,
      poll: readsOne,
      ask: async () => NOTHING,
      logger: silent,
      now: () => new Date(now),
      random: () => 0.5,
      onRecorded: () => {},
      ...parts,
    },
    { concurrency, keepMs: 400 * DAY_MS, ...(perHost && { perHost }), ...(idleMs && { idleMs }) },
  );
  return { poller, pass: (ms: number) => (now += ms) };
}

export const subscribe = (store: Store, urls: readonly string[]) =>
  store.feeds.add(
    urls.map((url) => ({ url })),
    new Date(T0),
  );
export const endless = () => new AbortController().signal;
