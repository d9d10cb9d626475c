// A poller of feeds with a store of its own.
import type { Fetcher } from '@strata/scan';
import { type FeedPoller, openPoller, readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import pino from 'pino';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { timed } from '../measure.ts';

/** Feeds polled at once. */
export const CONCURRENCY = 64;
const TIMEOUT_MS = 400_000;

export async function openFeeds(urls: readonly string[], fetcher: Fetcher) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryDirectory());
  const store = stack.use(await openStore(`sqlite:${path}/feeds.db`));
  const config = readConfig({ STRATA_DATA: path });
  const logger = pino({ level: 'error' }, pino.destination(2));
  const parts = { store, fetcher, logger, isOptedOut: () => false, now: () => new Date(), concurrency: CONCURRENCY };
  const poller = openPoller(config, parts);
  await store.feeds.add(
    urls.map((url) => ({ url })),
    new Date(),
  );
  const owned = stack.move();
  return { store, poller, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Polls every feed that is due. */
export async function pollAll(poller: FeedPoller) {
  let done = 0;
  const onDone = () => {
    done += 1;
  };
  const { seconds, cpuSeconds } = await timed(() => poller.runDue({ onDone, signal: AbortSignal.timeout(TIMEOUT_MS) }));
  return { done, rate: done / seconds, cpuMs: (cpuSeconds * 1_000) / done };
}
