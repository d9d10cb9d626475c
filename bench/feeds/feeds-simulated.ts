// Polling the feeds of a simulated internet over DNS, HTTP and TLS, beside the least that such a poll could do: fetch and parse.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFetcher, type Fetcher } from '@strata/scan';
import { openPoller, readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import type { ListedFeed } from '@strata/testnet';
import { parseFeed as parseByFeedsmith } from 'feedsmith';
import pino from 'pino';
import { type Figure, perSecond, startChild } from '../measure.ts';

const FEEDS = 5_000;
const CONCURRENCY = 64;
const FETCH = { maxBytes: 2_000_000, timeoutMs: 20_000 } as const;

interface Simulated {
  readonly feeds: readonly ListedFeed[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  readonly plainPort: number;
  readonly securePort: number;
}

export async function pollingSimulated(): Promise<Figure[]> {
  await using child = await startChild<Simulated>(new URL('../scan/internet-process.ts', import.meta.url), {
    domains: 10_000,
    feeds: FEEDS,
  });
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

async function measured(count: number, work: (fetcher: Fetcher) => Promise<void>, internet: Simulated) {
  const { resolver, caPem, plainPort, securePort } = internet;
  await using fetcher = createFetcher({
    userAgent: 'StrataBench',
    resolver: { upstreams: [resolver] },
    trustedCa: [caPem],
    dial: ({ port }) => ({ address: '127.0.0.1', port: port === 443 ? securePort : plainPort }),
  });
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await work(fetcher);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { rate: (count * 1_000) / (performance.now() - startedAt), cpuMs: (user + system) / 1_000 / count };
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
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
  try {
    await using store = await openStore(`sqlite:${path.join(directory, 'feeds.db')}`);
    const config = readConfig({ STRATA_DATA: directory });
    const logger = pino({ level: 'error' }, pino.destination(2));
    const poller = openPoller(config, {
      store,
      fetcher,
      logger,
      isOptedOut: () => false,
      now: () => new Date(),
      concurrency: CONCURRENCY,
    });
    await store.feeds.add(
      urls.map((url) => ({ url })),
      new Date(),
    );
    await poller.runDue({ onDone: () => {}, signal: AbortSignal.timeout(150_000) });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
