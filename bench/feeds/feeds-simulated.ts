// Polling the feeds of a simulated internet over DNS, HTTP and TLS, beside the least that such a poll could do: fetch and parse.
import { createFetcher, type Fetcher } from '@strata/scan';
import { parseFeed as parseByFeedsmith } from 'feedsmith';
import { type BenchInternet, near, startInternet } from '../internet.ts';
import { type Figure, perSecond, timed } from '../measure.ts';
import { CONCURRENCY, openFeeds, pollAll } from './feed-poller.ts';

const FEEDS = 5_000;
const FETCH = { maxBytes: 2_000_000, timeoutMs: 20_000 } as const;

export async function pollingSimulated(): Promise<Figure[]> {
  await using child = await startInternet({ domains: 10_000, feeds: FEEDS });
  // Slow publishers take twenty seconds for any client.
  const urls = child.ready.feeds.filter(({ behaviour }) => behaviour !== 'slow').map(({ url }) => url);
  const bare = await measured(urls.length, (fetcher) => fetchAndParse(urls, fetcher), child.ready);
  const complete = await measured(urls.length, (fetcher) => pollOnce(urls, fetcher), child.ready);
  return [
    {
      what: `${urls.length} feeds of a simulated internet polled over TLS and recorded`,
      value: perSecond(complete.rate),
      against: `${complete.cpuMs.toFixed(1)} ms of processor each; fetched alone and parsed by feedsmith ${perSecond(bare.rate)}, ${bare.cpuMs.toFixed(1)} ms: ${(complete.cpuMs / bare.cpuMs).toFixed(2)} × its processor time`,
    },
  ];
}

async function measured(count: number, work: (fetcher: Fetcher) => Promise<void>, internet: BenchInternet) {
  const { dial, trustedCa } = near(internet);
  await using fetcher = createFetcher({
    userAgent: 'StrataBench',
    resolver: { upstreams: [internet.resolver] },
    ...{ trustedCa, dial },
  });
  const { seconds, cpuSeconds } = await timed(() => work(fetcher));
  return { rate: count / seconds, cpuMs: (cpuSeconds * 1_000) / count };
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

async function pollOnce(urls: readonly string[], fetcher: Fetcher): Promise<void> {
  await using feeds = await openFeeds(urls, fetcher);
  await pollAll(feeds.poller);
}
