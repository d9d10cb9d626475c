// A publisher of a test's own making, over real HTTP.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFetcher } from '@strata/scan';
import type { AdvisorySource } from '../source.ts';
import { openGround, START } from './syncing.ts';

export type SourceAt = (origin: string) => AdvisorySource;

/** Answers as the listener does, on a port of its own. */
export async function publisherThat(answers: RequestListener) {
  const server = createServer(answers);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The same with one source of it, and a store to sync into. */
export async function openPublisher(answers: RequestListener, sourceAt: SourceAt, others: readonly string[] = []) {
  await using stack = new AsyncDisposableStack();
  const { origin } = stack.use(await publisherThat(answers));
  const fetcher = stack.use(createFetcher({ trustedOrigins: [origin, ...others], userAgent: 'StrataBot/test' }));
  const clock = { at: START };
  const ground = stack.use(await openGround(clock, fetcher));
  const source = sourceAt(origin);
  const owned = stack.move();
  return {
    ...{ clock, ground, source },
    sync: () => ground.run(source),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
