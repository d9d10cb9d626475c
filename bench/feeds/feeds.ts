// Feeds: parsing, polling 5,000 of them over real sockets, and the tally of mentions with a million domains.
import { MentionTally, parseFeed } from '@strata/feeds';
import { createFetcher } from '@strata/scan';
import { EventBus, LiveMentions } from '@strata/stack';
import pino from 'pino';
import { collectGarbage, type Figure, median, perSecond, rateOf, startChild, timed, timesOf } from '../measure.ts';
import { rssOf } from '../rss.ts';
import { openFeeds, pollAll } from './feed-poller.ts';
import { pollingSimulated } from './feeds-simulated.ts';

const FEEDS = 5_000;
const HOSTS = 500;
const DAY_MS = 86_400_000;

export async function benchFeeds(): Promise<Figure[]> {
  return [...parsing(), ...(await polling()), ...(await pollingSimulated()), ...(await tallying())];
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
  await using fetcher = createFetcher({ userAgent: 'StrataBench', trustedOrigins: origins });
  await using feeds = await openFeeds(
    Array.from({ length: FEEDS }, (_, i) => `${origins[i % HOSTS]}/feed-${i}`),
    fetcher,
  );
  const { store, poller } = feeds;
  const first = await pollAll(poller);
  const { items, mentions } = poller.counts();
  const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
  await store.feeds.schedule.markAllDue();
  const again = await pollAll(poller);
  const logger = pino({ level: 'silent' });
  const { seconds: counted } = await timed(() =>
    LiveMentions.open({ store, logger, now: () => new Date(), events: new EventBus(logger) }),
  );
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
}

async function tallying(): Promise<Figure[]> {
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
  const times = await timesOf(9, () => tally.leaderboard('30d', 1_000));
  const [newDay = Number.NaN] = await timesOf(1, () => tally.moveTo(now + DAY_MS));
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
