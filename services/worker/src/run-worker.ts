// Runs a worker: contributes local engines to the network until it leaves.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { holderOf, lockFile, warnOfFileSystem } from '@strata/db';
import { Metrics, Readiness, StartError, serveMetrics } from '@strata/http';
import { RateLimiter } from '@strata/limits';
import { type PeerNode, peerNodeOptions, readJoinToken, startPeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { WorkerConfig } from './config.ts';
import { type ContributedModel, contributeModels } from './contributed-model.ts';
import { Gateways } from './network/find-gateways.ts';
import { joinNetwork } from './network/join-network.ts';
import { Offers } from './network/offers.ts';
import { openEngineSlots } from './serve/engine-slots.ts';
import { Fitness } from './serve/fitness.ts';
import { Grammars } from './serve/grammars.ts';
import { serveChannel } from './serve/serve-channel.ts';
import { Receipts } from './store/receipts.ts';
import { openStore, type WorkerStore } from './store/store.ts';
import type { WorkerEvent } from './worker-event.ts';
import { addWorkerMetrics, segmentMeter } from './worker-metrics.ts';

export interface RunningWorker extends AsyncDisposable {
  /** Peer id. */
  readonly id: string;
  addresses(): readonly string[];
  /** Peer ids of the gateways with an open channel. */
  serving(): readonly string[];
  readonly store: WorkerStore;
  /** Undefined if the settings have no metrics port. */
  readonly metricsPort: number | undefined;
  /**
   * Rejects new requests, finishes or hands back those in progress within ten seconds, and withdraws its offer.
   * Disposing does the same.
   */
  leave(): Promise<void>;
}

export interface WorkerDeps {
  readonly logger: Logger;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  /** Aborts the start, including downloads. */
  readonly signal?: AbortSignal | undefined;
}

/** Overrides for tests: models that are already open, and are not disposed. */
export interface WorkerWorld {
  readonly models?: readonly ContributedModel[];
}

/** How long requests in progress may take when the worker leaves. */
const FINISH_MS = 10_000;
/** Peers in a LAN are discovered within seconds, the first DHT lookups take somewhat longer. */
const ALONE_MS = 15_000;

/** Chunks that a gateway gets at once, and per hour: enough for its checks; a download of 4 GB takes ten days. */
const CHUNKS = { limit: 256, period: 3_600_000, refill: 'steady' } as const;

/** The SQLite database of the receipts. */
export const storeFile = (config: WorkerConfig): string => path.join(config.directory, 'worker.db');

/**
 * Resolves when the worker can serve requests; joining the network continues in the background. Rejects with
 * EngineError, ModelStoreError, StartError, or the signal's reason.
 */
export async function startWorker(
  config: WorkerConfig,
  deps: WorkerDeps,
  world: WorkerWorld = {},
): Promise<RunningWorker> {
  const { logger, onEvent = () => {}, signal } = deps;
  const nowMs = () => Date.now();
  const monotonicMs = () => performance.now();
  await using stack = new AsyncDisposableStack();
  // The records of who was served, and when, are private.
  await mkdir(config.directory, { recursive: true, mode: 0o700 });
  warnOfFileSystem(config.directory, logger);
  stack.use(lockOf(config));
  const [metrics, readiness] = [new Metrics(), new Readiness()];
  const metricsServer =
    config.metricsAt === undefined
      ? undefined
      : await serveMetrics(metrics, { ...config.metricsAt, readiness }).catch((cause: Error) => {
          throw new StartError(
            `the metrics cannot be served: ${cause.message}; choose another port with worker=… of STRATA_METRICS_PORT`,
            { cause },
          );
        });
  stack.use(metricsServer);
  // Before the model is loaded: the key or an address may be unusable.
  const node = stack.use(await openNode(config));
  const store = stack.use(await openStore(storeFile(config)));
  const contributed = world.models
    ? { models: world.models, memory: undefined }
    : await contributeModels(config, { logger, stack, signal });
  const { models, memory } = contributed;
  signal?.throwIfAborted();
  const fitness = new Fitness({
    engine: {
      get isReady() {
        return models.some(({ engine }) => engine.isReady);
      },
    },
    nowMs: monotonicMs,
    onChange: (reason) => onEvent({ kind: 'refusing', reason }),
  });
  const isFit = () => fitness.failure() === undefined;
  // The models share the slots: they run on the same processors.
  const slots = Math.max(...models.map(({ engine }) => engine.info.slots));
  const engineSlots = openEngineSlots({ slots, queue: config.queue }, () => offers.noteLoad());
  const offers: Offers = stack.use(
    await Offers.start({
      node,
      models,
      slots: engineSlots,
      memory,
      logger,
      nowMs,
      isFit,
    }),
  );
  const receipts = new Receipts(store.segments, {
    sign: (bytes) => node.sign(bytes),
    nowMs: monotonicMs,
    onKept: segmentMeter(metrics),
  });
  const grammars = new Grammars(monotonicMs);
  const chunkLimit = new RateLimiter({ ...CHUNKS, now: monotonicMs });
  const leaving = new AbortController();
  const closing = new AbortController();
  const serving = (gateway: string) => onEvent({ kind: 'serving', gateway });
  const shared = {
    worker: node.id,
    models,
    slots: engineSlots,
    receipts,
    logger,
    nowMs,
    offers,
    grammars,
    fitness,
    chunkLimit,
  };
  const signals = { leaving: leaving.signal, closing: closing.signal };
  onEvent({ kind: 'started', peer: node.id, models, addresses: node.addresses() });
  const gateways = stack.use(
    new Gateways({
      ...{ node, logger, random: Math.random, nowMs: monotonicMs },
      serve: async (channel, onWork) => {
        const end = await serveChannel(channel, { ...shared, ...signals, onServing: serving, onWork });
        // Gateways that were served, unless this worker itself is leaving.
        if (end === 'over' && !leaving.signal.aborted) onEvent({ kind: 'left', gateway: channel.peer });
        return end;
      },
    }),
  );
  const onJoin = (event: WorkerEvent) => {
    if (event.kind === 'joined') gateways.name(event.peers);
    onEvent(event);
  };
  gateways.name(config.peer.join.flatMap(namedPeers));
  const joining = joinNetwork(node, {
    targets: config.peer.join,
    models,
    logger,
    onEvent: onJoin,
    signal: leaving.signal,
  });
  const aloneTimer = setTimeout(() => {
    if (gateways.serving().length === 0) onEvent({ kind: 'alone', connected: node.peers.connected().length });
  }, ALONE_MS);
  metrics.disk(config.directory);
  addWorkerMetrics(metrics, { engineSlots, slots, memory, gateways: () => gateways.serving().length, isFit });
  readiness.watch('engine', async () => {
    const failure = fitness.failure();
    if (failure) throw failure;
  });
  readiness.started();
  const owned = stack.move();
  const leave = onlyOnce(async () => {
    readiness.stopping();
    clearTimeout(aloneTimer);
    leaving.abort();
    gateways.stop();
    await offers.withdraw().catch((error: unknown) => logger.warn({ err: error }, 'withdrawing the offer failed'));
    await engineSlots.empty(AbortSignal.timeout(FINISH_MS));
    closing.abort();
    await joining;
    await owned.disposeAsync();
  });
  return {
    id: node.id,
    addresses: () => node.addresses(),
    serving: () => gateways.serving(),
    store,
    metricsPort: metricsServer?.port,
    leave,
    [Symbol.asyncDispose]: leave,
  };
}

/** Throws StartError or FileLockError. */
function lockOf(config: WorkerConfig): Disposable {
  const file = path.join(config.directory, 'worker.lock');
  const lock = lockFile(file);
  if (lock) return lock;
  throw new StartError(
    `another worker already uses ${config.directory} (${holderOf(file)}); to run two, choose another data directory with STRATA_DATA`,
  );
}

/** The peer that a join token or a multiaddr names; invalid targets are reported when they are joined. */
function namedPeers(target: string): readonly string[] {
  try {
    return [readJoinToken(target).peer];
  } catch {
    return [/\/p2p\/([^/]+)$/.exec(target)?.[1] ?? []].flat();
  }
}

async function openNode(config: WorkerConfig): Promise<PeerNode> {
  try {
    return await startPeerNode(await peerNodeOptions(config.peer));
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(`the worker cannot start its network node: ${message}`, { cause });
  }
}

/** Serves until SIGINT or SIGTERM, which also abort the start. */
export async function serveWorker(config: WorkerConfig, deps: Omit<WorkerDeps, 'signal'>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  let running: RunningWorker;
  try {
    running = await startWorker(config, { ...deps, signal });
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  await using _running = running;
  if (!signal.aborted) await once(signal, 'abort');
  deps.logger.info('leaving');
}

/** Runs once; later calls return the result of the first. */
function onlyOnce(run: () => Promise<void>): () => Promise<void> {
  let outcome: Promise<void> | undefined;
  return () => {
    outcome ??= run();
    return outcome;
  };
}
