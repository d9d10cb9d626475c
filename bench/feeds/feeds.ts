// Feeds: parsing, polling 5,000 of them over real sockets and over TLS, and the tally of mentions with a million domains.
import { MentionTally, parseFeed } from '@strata/feeds';
import { createFetcher, type Fetcher } from '@strata/scan';
import { openPoller, readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { parseFeed as parseByFeedsmith } from 'feedsmith';
import pino from 'pino';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { near, startInternet } from '../internet.ts';
import { collectGarbage, type Figure, perSecond, rateOf, setting, startChild, thousands, timed } from '../measure.ts';
import { rssOf } from './rss.ts';

const FEEDS = Math.min(5_000, setting('DOMAINS', 5_000));
const DOMAINS = setting('DOMAINS', 1_000_000);
const HOSTS = 500;
/** Feeds polled at once. */
const CONCURRENCY = 64;
const TIMEOUT_MS = 400_000;
const FETCH = { maxBytes: 2_000_000, timeoutMs: 20_000 } as const;
const DAY_MS = 86_400_000;
const userAgent = 'StrataBench';

export async function benchFeeds(): Promise<Figure[]> {
  return [parsing(), await polling(), await pollingSimulated(), await tallying()];
}

function parsing(): Figure {
  const body = Buffer.from(rssOf('/parse', 50));
  const options = { contentType: 'application/rss+xml', url: 'https://blog.example/feed', isTruncated: false };
  const rate = rateOf(() => {
    parseFeed(body, { ...options, now: Date.now() });
    return 1;
  }, 2_000);
  return [`parse RSS of 50 items, ${Math.round(body.length / 1_000)} kB`, perSecond(rate)];
}

async function polling(): Promise<Figure> {
  await using server = await startChild<{ port: number }>(new URL('./feed-server-process.ts', import.meta.url));
  const { port } = server.ready;
  const origins = Array.from({ length: HOSTS }, (_, i) => `http://127.0.${1 + (i >> 8)}.${i & 255}:${port}`);
  const urls = Array.from({ length: FEEDS }, (_, i) => `${origins[i % HOSTS]}/feed-${i}`);
  await using fetcher = createFetcher({ userAgent, trustedOrigins: origins });
  const { done, mentions, rate, cpuMs } = await pollOnce(urls, fetcher);
  const what = `poll and record ${thousands(done)} feeds, ${thousands(mentions)} mentions`;
  return [what, `${perSecond(rate)}, ${cpuMs.toFixed(1)} ms of CPU each`, '10,000 feeds an hour are 3/s'];
}

/** Over DNS, HTTP and TLS, beside the least that such a poll could do: fetch and parse. */
async function pollingSimulated(): Promise<Figure> {
  await using internet = await startInternet({ domains: 2 * FEEDS, feeds: FEEDS });
  // Slow publishers take twenty seconds for any client.
  const urls = internet.ready.feeds.filter(({ behaviour }) => behaviour !== 'slow').map(({ url }) => url);
  const { dial, trustedCa } = near(internet.ready);
  const options = { userAgent, resolver: { upstreams: [internet.ready.resolver] }, dial, trustedCa };
  await using bareFetcher = createFetcher(options);
  const bare = await timed(() => fetchAndParse(urls, bareFetcher));
  await using fetcher = createFetcher(options);
  const { rate, cpuMs } = await pollOnce(urls, fetcher);
  const least = `${perSecond(urls.length / bare.seconds)}, ${((bare.cpuSeconds * 1_000) / urls.length).toFixed(1)} ms`;
  return [
    `over TLS, ${thousands(urls.length)} feeds`,
    `${perSecond(rate)}, ${cpuMs.toFixed(1)} ms`,
    `fetched and parsed by feedsmith ${least}`,
  ];
}

/** Polls every feed, with a store of its own. */
async function pollOnce(urls: readonly string[], fetcher: Fetcher) {
  await using directory = await temporaryDirectory();
  await using store = await openStore(`sqlite:${directory.path}/feeds.db`);
  const logger = pino({ level: 'error' }, pino.destination(2));
  const deps = { store, fetcher, logger, isOptedOut: () => false, now: () => new Date(), concurrency: CONCURRENCY };
  const poller = openPoller(readConfig({ STRATA_DATA: directory.path }), deps);
  const addresses = urls.map((url) => ({ url }));
  await store.feeds.add(addresses, new Date());
  let done = 0;
  const onDone = () => {
    done += 1;
  };
  const { seconds, cpuSeconds } = await timed(() => poller.runDue({ onDone, signal: AbortSignal.timeout(TIMEOUT_MS) }));
  return { done, mentions: poller.counts().mentions, rate: done / seconds, cpuMs: (cpuSeconds * 1_000) / done };
}

async function fetchAndParse(urls: readonly string[], fetcher: Fetcher): Promise<void> {
  const waiting = urls.values();
  const work = async () => {
    for (const url of waiting) {
      const answer = await fetcher.fetch(url, FETCH);
      if (answer.kind === 'answered' && answer.status === 200) parseLoosely(answer.body.toString());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

/** Some are no feeds, which it says by throwing. */
function parseLoosely(text: string): void {
  try {
    parseByFeedsmith(text);
  } catch {
    return;
  }
}

async function tallying(): Promise<Figure> {
  const now = Date.now();
  collectGarbage();
  const usedBytes = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = usedBytes();
  const tally = new MentionTally({ now });
  // As a database gives names: each a string of its own, not the sum of two.
  const name = (i: number) => Buffer.from(`company-${i}.com`).toString('latin1');
  for (let i = 0; i < DOMAINS; i += 1)
    tally.add({ domain: name(i), feedId: (i * 31) % 10_000, at: now - (i % 64) * DAY_MS });
  for (let i = 0; i < DOMAINS; i += 1) {
    const at = now - (i % 64) * DAY_MS;
    tally.add({ domain: name(Math.floor(DOMAINS * ((i * 0.618_034) % 1) ** 6)), feedId: i % 10_000, at });
  }
  collectGarbage();
  const bytes = usedBytes() - before;
  const { seconds } = await timed(() => tally.moveTo(now + DAY_MS));
  const what = `tally of ${thousands(DOMAINS)} domains; a new day`;
  return [what, `${Math.round(bytes / 1e6)} MB; ${(seconds * 1_000).toFixed(0)} ms`, 'goal < 200 MB'];
}
