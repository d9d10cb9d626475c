// The gateway's part in the network: one node, the workers that connect to it, their offers, and the models that they
// serve.
import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Engine, openVocabulary, VocabularySpare } from '@strata/engine';
import { Directory, modelGroups, OFFERS_TOPIC, PROTOCOL, PrefixMap, weakest } from '@strata/inference';
import { type PeerNode, type PeerNodeOptions, startPeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { Models } from '../answers/models.ts';
import type { GatewayStore } from '../store/index.ts';
import { VERSION } from '../version.ts';
import { loadedMajority } from './audit/audit-panel.ts';
import { Auditor } from './audit/auditor.ts';
import { ReputationRecorder } from './audit/reputation-recorder.ts';
import { advertise, joinSiblings, reportJoined } from './discovery.ts';
import { LiveFleet } from './fleet/fleet.ts';
import { ModelLoads } from './fleet/model-loads.ts';
import { KnownGateways } from './known-gateways.ts';
import type { NetworkConfig } from './network-config.ts';
import { NetworkModels, networkModelInfo } from './network-models.ts';
import { knownPeers, type NetworkReport, networkReport } from './network-report.ts';
import { Offers } from './offers.ts';
import { openProofs } from './proof/open-proofs.ts';
import type { Proofs } from './proof/proofs.ts';
import { createNetworkEngine } from './relay/network-engine.ts';
import { Sessions } from './session/sessions.ts';
import { Settlement } from './settlement.ts';
import { byTrust, fetchVocabulary } from './vocabulary/fetch-vocabulary.ts';
import { type OpenVocabulary, Vocabularies } from './vocabulary/vocabularies.ts';
import { VocabularyCache } from './vocabulary/vocabulary-cache.ts';

export interface GatewayNetwork extends AsyncDisposable {
  readonly node: PeerNode;
  /** What a worker needs to join; a secret if the network is private. */
  joinToken(): string;
  report(): NetworkReport;
}

export interface GatewayNetworkOptions extends Omit<NetworkConfig, 'peer'> {
  readonly peer: PeerNodeOptions;
  /** The directory of the vocabularies. */
  readonly directory: string;
  /** Maximum number of waiting answers per model. */
  readonly queue: number;
}

export interface GatewayNetworkDeps {
  /** The models of the network are added to these. */
  readonly models: Models;
  /** Local engines: they verify answers of workers that have the same model file. */
  readonly engines: readonly Engine[];
  /** Paths of the model files of local engines, by SHA-256. */
  readonly files: ReadonlyMap<string, string>;
  readonly store: Pick<GatewayStore, 'segments' | 'reputations' | 'networkModels' | 'gateways' | 'isShared'>;
  /** The id of this gateway among those of the database. */
  readonly gateway: () => number;
  readonly logger: Logger;
  readonly now: () => Date;
  /** For tests and benchmarks, whose engines have no files. */
  readonly openVocabulary?: OpenVocabulary | undefined;
}

const SOFTWARE = `strata-gateway/${VERSION}`;
/** Interval at which expired offers and models without workers are removed. */
const TICK_MS = 1_000;

/** Resolves when workers can connect; their models are served as they arrive. Rejects if the node cannot listen. */
export async function openGatewayNetwork(
  options: GatewayNetworkOptions,
  deps: GatewayNetworkDeps,
): Promise<GatewayNetwork> {
  const { logger, now } = deps;
  const nowMs = () => now().getTime();
  await using stack = new AsyncDisposableStack();
  await mkdir(options.directory, { recursive: true });
  const node = stack.use(await startPeerNode(options.peer));
  const directory = new Directory();
  const prefixes = new PrefixMap();
  const loads = new ModelLoads(() => performance.now());
  const gateways = new KnownGateways();
  const closing = new AbortController();
  const sessions: Sessions = stack.use(
    new Sessions({
      software: SOFTWARE,
      max: options.maxWorkers,
      trustOf: (peer) => trust.of(peer),
      hasModels: (peer) => (directory.worker(peer)?.offer.models.length ?? 0) > 0,
      roundTripMs: (peer) => node.peers.roundTripMs(peer),
      onOffer: (offer) => offers.take(offer, { isConnected: true }),
      onChange: (peer) => {
        if (!sessions.all.has(peer)) directory.drop(peer);
        models.scheduleRefresh();
      },
      onBreach: (peer, breach) => trust.breach(peer, breach),
      logger,
    }),
  );
  const isConnected = (peer: string) => sessions.all.get(peer)?.isAlive ?? false;
  const offers = new Offers({
    ...{ directory, nowMs },
    onTaken: ({ peer }) => {
      if (!isConnected(peer)) return;
      models.scheduleRefresh();
      proofs.check();
    },
  });
  const offered = (peer: string, sha256: string) =>
    directory.worker(peer)?.offer.models.find((model) => model.sha256 === sha256);
  const cache = new VocabularyCache({ directory: path.join(options.directory, 'vocabularies') });
  // Disposed after trust, whose last audits need them.
  const vocabularies = stack.use(new Vocabularies(deps.openVocabulary ?? openerWithSpare(stack)));
  const records = stack.use(await ReputationRecorder.open({ reputations: deps.store.reputations, logger, nowMs }));
  const trust = stack.use(
    new Auditor(
      {
        reputations: records,
        workers: (sha256) =>
          loadedMajority(
            [...sessions.all.values()].filter(({ peer }) => offered(peer, sha256)),
            ({ peer }) => offered(peer, sha256)?.loadMs === undefined,
          ),
        hasOtherWorkers: (sha256, peer) =>
          models.list().some(({ group }) => group.sha256 === sha256 && group.peers.some((other) => other !== peer)),
        // An audit loads no model.
        engine: (sha256) => deps.engines.find(({ info, isLoaded }) => info.sha256 === sha256 && isLoaded !== false),
        lacks: (peer, sha256) => offered(peer, sha256)?.lacks,
        proved: (peer, sha256) => proofs.of(peer, sha256),
        logger,
        now,
      },
      { share: options.auditShare },
    ),
  );
  const settlement = stack.use(
    new Settlement({ trust, segments: deps.store.segments, gateway: node.id, sign: (bytes) => node.sign(bytes), now }),
  );
  const proofs: Proofs = stack.use(
    openProofs(options, {
      ...{ directory, sessions, trust, records, settlement, logger, engines: deps.engines, files: deps.files },
      onChange: () => {
        // At once: what is reported as proved can be chosen.
        for (const { fleet } of models.list()) fleet.refresh();
        models.scheduleRefresh();
      },
      random: () => randomInt(2 ** 47) / 2 ** 47,
    }),
  );
  const pinned = new Set(options.pins.values());
  const weigh = (peer: string) => (isConnected(peer) ? trust.of(peer) : 0);
  const sessionsOf = (peers: readonly string[]) =>
    byTrust(
      peers.flatMap((peer) => sessions.all.get(peer) ?? []),
      { of: weigh, random: Math.random },
    );
  const models: NetworkModels = stack.use(
    new NetworkModels(
      { max: options.maxModels, pins: options.pins, queue: options.queue },
      {
        models: deps.models,
        groups: (nameOf) => modelGroups(directory.connected(), { weigh, ...(nameOf ? { nameOf } : {}) }),
        vocabularyOf: (sha256, peers) =>
          vocabularies.of(sha256, () =>
            cache.file(sha256, () =>
              fetchVocabulary({ sha256, sessions: sessionsOf(peers()), signal: closing.signal }),
            ),
          ),
        openModel: (group, vocabulary, facts) => {
          const { sha256, vocabularySha256 } = group();
          const isServed = (peer: string) => !pinned.has(sha256) || trust.verified(peer, sha256).level === 'pinned';
          const fleet = new LiveFleet(
            { sha256, vocabularySha256 },
            {
              ...{ directory, prefixes, loads, sessions: sessions.all },
              // Of a pinned model, only workers that have proved it are chosen.
              trust: { of: (peer) => (isServed(peer) ? trust.of(peer) : 0) },
              nowMs: () => performance.now(),
              random: Math.random,
            },
          );
          const engine = createNetworkEngine({
            ...{ vocabulary, fleet, trust, settlement },
            info: () => networkModelInfo(group(), facts, fleet.slots),
            hedgeAfter: options.hedgeAfter,
          });
          const verified = () => {
            const { peers } = group();
            const served = peers.filter(isServed);
            const levels = (served.length > 0 ? served : peers).values().map((peer) => trust.verified(peer, sha256));
            return weakest(levels) ?? { level: 'claimed' as const, reason: 'no worker offers the model at present' };
          };
          return { engine, fleet, verified };
        },
        onNames: (ids) =>
          void deps.store.networkModels.add(ids).catch((error: unknown) => {
            logger.warn({ err: error }, 'the names of the network models cannot be stored');
          }),
        logger,
        now,
      },
    ),
  );
  deps.models.expect(await deps.store.networkModels.read());
  await node.gossip.subscribe(OFFERS_TOPIC, (message, from) => offers.receive(message, from));
  await node.channels.handle(PROTOCOL, (channel) => void sessions.take(channel));
  const tick = setInterval(() => {
    directory.expire(now().getTime());
    models.scheduleRefresh();
    proofs.check();
  }, TICK_MS);
  const discovery = Promise.all([
    advertise(node, { pins: options.pins, logger, signal: closing.signal }),
    reportJoined(node, { join: options.peer.join ?? [], logger, signal: closing.signal }),
    ...(deps.store.isShared
      ? [joinSiblings({ node, ...deps.store, gateway: deps.gateway, known: gateways, logger }, closing.signal)]
      : []),
  ]);
  stack.defer(async () => {
    clearInterval(tick);
    closing.abort();
    await discovery;
  });
  const owned = stack.move();
  return {
    node,
    joinToken: () => node.joinToken(),
    report: () =>
      networkReport({
        self: { peer: node.id, software: SOFTWARE },
        gateways: gateways.list(),
        peers: knownPeers({ node, directory, sessions, trust }),
        audits: trust.audits(),
        models: models.list().map(({ id, group, admission: { running, waiting }, fleet, verified }) => ({
          ...{ id, name: group.name, sha256: group.sha256, slots: fleet.slots, running, waiting },
          ...{ workers: group.peers.filter(isConnected).length, verified: verified() },
        })),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Keeps a spare process ready for the next vocabulary. */
function openerWithSpare(stack: AsyncDisposableStack): OpenVocabulary {
  const spare = stack.use(new VocabularySpare());
  return (file) => openVocabulary(file, { spare });
}
