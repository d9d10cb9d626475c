// What polling feeds needs, without a server: for commands.
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { openFetcher } from '../open-fetcher.ts';
import { openScanning } from '../open-scanning.ts';
import { openPoller } from './open-poller.ts';
import type { FeedPoller } from './poller.ts';

export interface Feeding extends AsyncDisposable {
  readonly store: Store;
  readonly poller: FeedPoller;
}

export async function openFeeding(config: Config, { logger }: { logger: Logger }, world: World = {}): Promise<Feeding> {
  await using stack = new AsyncDisposableStack();
  const { store, isOptedOut } = stack.use(await openScanning(config, { logger }, world));
  const fetcher = stack.use(world.fetcher ?? openFetcher(config, world));
  const now = world.now ?? store.clock;
  const poller = openPoller(config, { store, fetcher, isOptedOut, logger, now });
  const owned = stack.move();
  return { store, poller, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
