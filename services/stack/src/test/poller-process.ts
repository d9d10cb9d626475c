// Polls feeds that answer at once, each with one item, until it is killed; says when it has begun to record. Its clock may be ahead.
import { newFeed } from '@strata/feeds';
import { createLogger } from '@strata/http';
import { openStore } from '@strata/store';
import { createPoller } from '../feeds/poller.ts';

const [url = '', aheadMs = '0'] = process.argv.slice(2);
const store = await openStore(url);
const poller = createPoller(
  {
    store,
    poll: async (state, { now }) => {
      await new Promise((resolve) => setImmediate(resolve));
      const item = {
        key: 'k',
        url: null,
        title: null,
        publishedAt: now,
        domains: [{ domain: 'x.com', kind: 'link' }],
      } as const;
      const feed = { format: 'rss', title: null, siteUrl: null, items: [item], skipped: 0 } as const;
      return {
        kind: 'read',
        state: { ...newFeed(state.url), nextPollAt: now + 3_600_000 },
        feed: { ...feed, ttlMs: null, skipHours: [], skipDays: [] },
      };
    },
    ask: () => Promise.reject(new Error('nothing is asked here')),
    logger: createLogger({ level: 'silent' }),
    now: () => new Date(Date.now() + Number(aheadMs)),
    random: () => 0.5,
    onRecorded: () => {
      if (poller.counts().polls % 100 === 0) process.stdout.write(`${poller.counts().polls}\n`);
    },
  },
  { concurrency: 32, keepMs: 400 * 86_400_000 },
);
await poller.runDue({ onDone: () => {}, signal: new AbortController().signal });
await store[Symbol.asyncDispose]();
