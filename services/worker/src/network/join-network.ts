// Joins the network: connects to the configured targets, and publishes the models in the DHT.
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { ContributedModel } from '../contributed-model.ts';
import type { WorkerEvent } from '../worker-event.ts';

export interface JoinOptions {
  /** Multiaddrs or join tokens. */
  readonly targets: readonly string[];
  readonly models: readonly ContributedModel[];
  readonly logger: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly signal: AbortSignal;
}

const JOIN_MS = 15_000;

/** Reports the outcome of each target; the node itself retries those that do not answer. Never rejects. */
export async function joinNetwork(node: Pick<PeerNode, 'peers'>, options: JoinOptions): Promise<void> {
  const { targets, models, logger, onEvent, signal } = options;
  await Promise.all([
    ...targets.map(async (target) => {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(JOIN_MS)]);
        onEvent({ kind: 'joined', target, peers: await node.peers.join(target, { signal: limited }) });
      } catch (error) {
        if (signal.aborted) return;
        logger.debug({ err: error, target }, 'joining failed');
        onEvent({ kind: 'not-joined', target, reason: (error as Error).message });
      }
    }),
    ...models.map(({ name, engine }) =>
      node.peers.provide(Buffer.from(engine.info.sha256, 'hex')).catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error, model: name }, 'publishing a model in the network failed');
      }),
    ),
  ]);
}
