// The gateway in the network's index: workers find it there, and it looks there for workers of the models that its operator named.
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_KEY } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';

export interface AdvertiseOptions {
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Workers of pinned models are looked for this often. */
const SEARCH_MS = 30_000;

/** Until the signal is aborted. A network that cannot be asked just now is asked again. */
export async function advertise({ peers }: Pick<PeerNode, 'peers'>, options: AdvertiseOptions): Promise<void> {
  const { pins, logger, signal } = options;
  const tried = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, what);
    }
  };
  const providing = tried('telling the network of this gateway failed', () => peers.provide(GATEWAY_KEY));
  while (pins.size > 0 && !signal.aborted) {
    for (const sha256 of pins.values())
      await tried('looking for workers of a pinned model failed', async () => {
        // To be connected is enough: a worker opens a channel to each gateway that it meets.
        for await (const _peer of peers.find(Buffer.from(sha256, 'hex'), { signal }));
      });
    await sleep(SEARCH_MS, undefined, { signal }).catch(() => {});
  }
  await providing;
}
