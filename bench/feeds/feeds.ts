// Feeds: parsing, polling 5,000 of them over real sockets, and the tally of mentions with a million domains.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MentionTally, parseFeed } from '@strata/feeds';
import { createFetcher } from '@strata/scan';
import { EventBus, type FeedPoller, LiveMentions, openPoller, readConfig } from '@strata/stack';
import { openStore, type Store } from '@strata/stack/store';
import pino from 'pino';
import { collectGarbage, type Figure, median, perSecond, rateOf, startChild } from '../measure.ts';
import { rssOf } from '../rss.ts';
import { pollingSimulated } from './feeds-simulated.ts';

const FEEDS = 5_000;
const HOSTS = 500;
const CONCURRENCY = 64;
const DAY_MS = 86_400_000;

export async function benchFeeds(): Promise<Figure[]> {
  return [...parsing(), ...(await polling()), ...(await pollingSimulated()), ...tallying()];
}

function parsing(): Figure[] {
  const body = Buffer.from(rssOf('/parse', 50));
  const options = { contentType: 'application/rss+xml', url: 'https://blog.example/feed', isTruncated: false };
  const rate = rateOf(() => {
    parseFeed(body, { ...options, now: Date.now() });
    return 1;
  }, 2_000);
  const megabytes = (rate * body.length) / 1e6;
  return [
    {
      what: `RSS of 50 items, ${Math.round(body.length / 1_000)} kB, parsed to items and domains`,
      value: perSecond(rate),
      against: `${megabytes.toFixed(1)} MB/s`,
    },
  ];
}

async function polling(): Promise<Figure[]> {
  await using server = await startChild<{ readonly port: number }>(
    new URL('./feed-server-process.ts', import.meta.url),
  );
  const { port } = server.ready;
  const origins = Array.from({ length: HOSTS }, (_, i) => `http://127.0.${1 + (i >> 8)}.${i & 255}:${port}`);
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
  try {
    await using store = await openStore(`sqlite:${path.join(directory, 'feeds.db')}`);
    await using fetcher = createFetcher({ userAgent: 'StrataBench', trustedOrigins: origins });
    const config = readConfig({ STRATA_DATA: directory });
    const logger = pino({ level: 'error' }, pino.destination(2));
    const parts = { store, fetcher, logger, isOptedOut: () => false, now: () => new Date(), concurrency: CONCURRENCY };
    const poller = openPoller(config, parts);
    const urls = Array.from({ length: FEEDS }, (_, i) => ({ url: `${origins[i % HOSTS]}/feed-${i}` }));
    await store.feeds.add(urls, new Date());
    const first = await pollAll(poller);
    const { items, mentions } = poller.counts();
    const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
    await store.feeds.markAllDue();
    const again = await pollAll(poller);
    const counted = await counting(store);
    return [
      {
        what: `${first.done} feeds polled and recorded, ${items.toLocaleString('en-US')} items, ${mentions.toLocaleString('en-US')} mentions`,
        value: perSecond(first.rate),
        against: `${first.cpuMs.toFixed(1)} ms of processor each; 10,000 feeds an hour are 3/s`,
      },
      { what: 'RSS after it', value: `${rss} MiB`, against: '' },
      {
        what: 'polled again, unchanged (304)',
        value: perSecond(again.rate),
        against: `${again.cpuMs.toFixed(1)} ms each`,
      },
      { what: 'mentions counted at a start', value: perSecond(mentions / counted), against: `${counted.toFixed(2)} s` },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function pollAll(poller: FeedPoller) {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let done = 0;
  await poller.runDue({
    onDone: () => {
      done += 1;
    },
    signal: AbortSignal.timeout(400_000),
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  return { done, rate: (done * 1_000) / (performance.now() - startedAt), cpuMs: (user + system) / 1_000 / done };
}

/** Seconds that a start spends on the mentions of the store. */
async function counting(store: Store): Promise<number> {
  const startedAt = performance.now();
  const logger = pino({ level: 'silent' });
  await LiveMentions.open({ store, logger, now: () => new Date(), events: new EventBus(logger) });
  return (performance.now() - startedAt) / 1_000;
}

function tallying(): Figure[] {
  const domains = 1_000_000;
  const now = Date.now();
  collectGarbage();
  const usedBytes = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = usedBytes();
  const tally = new MentionTally({ now });
  // As a database gives names: each a string of its own, not the sum of two.
  const name = (i: number) => Buffer.from(`company-${i}.com`).toString('latin1');
  for (let i = 0; i < domains; i += 1)
    tally.add({ domain: name(i), feedId: (i * 31) % 10_000, at: now - (i % 64) * DAY_MS });
  for (let i = 0; i < domains; i += 1) {
    const at = now - (i % 64) * DAY_MS;
    tally.add({ domain: name(Math.floor(domains * ((i * 0.618_034) % 1) ** 6)), feedId: i % 10_000, at });
  }
  collectGarbage();
  const bytes = usedBytes() - before;
  const times = Array.from({ length: 9 }, () => {
    const startedAt = performance.now();
    tally.leaderboard('30d', 1_000);
    return performance.now() - startedAt;
  });
  const startedAt = performance.now();
  tally.moveTo(now + DAY_MS);
  const newDay = performance.now() - startedAt;
  return [
    {
      what: 'tally of 1,000,000 domains, 2,000,000 mentions',
      value: `${Math.round(bytes / 1e6)} MB`,
      against: 'goal: < 200 MB',
    },
    {
      what: 'first 1,000 of 30 days, with their preceding positions',
      value: `${median(times).toFixed(1)} ms`,
      against: '',
    },
    { what: 'a new day', value: `${newDay.toFixed(0)} ms`, against: 'once a day' },
  ];
}
