// The gateway's search for its network: publishes it in the index (DHT), where workers find it, searches there for workers
// of pinned models, connects the gateways of its database, and logs whether the peers named in the settings were reached.
import { setTimeout as sleep } from 'node:timers/promises';
import { FailureLog } from '@strata/http';
import { GATEWAY_KEY } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { GatewayTable } from '../store/gateways.ts';
import type { KnownGateways } from './known-gateways.ts';

export interface AdvertiseOptions {
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Interval of searches for workers of pinned models. */
const SEARCH_MS = 30_000;
/** Interval at which the gateways of the database are read. */
const SIBLINGS_MS = 5_000;
/** After this time a peer is logged as not reached. */
const LIMIT_MS = 15_000;

/** Runs until the signal aborts. Failed queries are retried. */
export async function advertise({ peers }: Pick<PeerNode, 'peers'>, options: AdvertiseOptions): Promise<void> {
  const { pins, logger, signal } = options;
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, what);
    }
  };
  const providing = attempt('publishing this gateway in the network failed', () => peers.provide(GATEWAY_KEY));
  while (pins.size > 0 && !signal.aborted) {
    for (const sha256 of pins.values())
      await attempt('searching for workers of a pinned model failed', async () => {
        // A connection is enough: a worker opens a channel to each gateway that it is connected to.
        for await (const _peer of peers.find(Buffer.from(sha256, 'hex'), { signal }));
      });
    await sleep(SEARCH_MS, undefined, { signal }).catch(() => {});
  }
  await providing;
}

export interface SiblingsDeps {
  readonly node: Pick<PeerNode, 'id' | 'addresses'> & { readonly peers: Pick<PeerNode['peers'], 'join' | 'connected'> };
  readonly gateways: Pick<GatewayTable, 'publish' | 'siblingsOf'>;
  readonly gateway: () => number;
  readonly known: KnownGateways;
  readonly logger: Logger;
}

/**
 * Connects the gateways of a database, until the signal aborts: a worker that joins one of them finds all. Rows of
 * killed gateways, and addresses that cannot be reached, are tried again.
 */
export async function joinSiblings(
  { node, gateways, gateway, known, logger }: SiblingsDeps,
  signal: AbortSignal,
): Promise<void> {
  const failures = new FailureLog(logger, { what: 'reading the addresses of the other gateways' });
  while (!signal.aborted) {
    try {
      await gateways.publish(gateway(), node.addresses());
      const isConnected = new Set([node.id, ...node.peers.connected().map(({ id }) => id)]);
      const siblings = await gateways.siblingsOf(gateway());
      known.note(siblings);
      for (const { addresses } of siblings) {
        if (addresses.some((address) => isConnected.has(address.split('/').at(-1) ?? ''))) continue;
        const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
        await Promise.any(addresses.map((each) => node.peers.join(each, { signal: limited }))).catch(() => {});
      }
      failures.recovered();
    } catch (error) {
      failures.failed(error);
    }
    await sleep(SIBLINGS_MS, undefined, { signal }).catch(() => {});
  }
}

/** The node itself keeps trying. Addresses and tokens are not logged: a token may contain the key of a private network. */
export async function reportJoined(
  { peers }: { readonly peers: Pick<PeerNode['peers'], 'join'> },
  { join, logger, signal }: { readonly join: readonly string[]; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(
    join.map(async (target, i) => {
      const setting = join.length === 1 ? 'STRATA_JOIN' : `STRATA_JOIN, number ${i + 1}`;
      try {
        const reached = await peers.join(target, { signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]) });
        logger.info({ setting, peers: reached }, 'joined the network');
      } catch (error) {
        if (!signal.aborted) logger.warn({ setting, err: error }, 'no peer was reached; retrying');
      }
    }),
  );
}
