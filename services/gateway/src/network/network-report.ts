// The report of `GET /network`: peers, models, load and reputation. It contains no addresses.
import { type Directory, type Offer, type Reputation, Verified } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import { z } from 'zod';
import type { AuditRecord } from './audit/auditor.ts';
import type { Trust } from './audit/trust.ts';
import type { KnownGateway } from './known-gateways.ts';
import type { Sessions } from './session/sessions.ts';

/** Maximum number of listed peers; the totals count all. */
const MAX_PEERS = 500;
const MAX_GATEWAYS = 100;
/** Maximum number of listed models of one peer. */
const MAX_PEER_MODELS = 8;

const Count = z.int().min(0);
const PeerModel = z.object({
  name: z.string(),
  sha256: z.string(),
  quantisation: z.string(),
  context_length: Count,
  slots: Count,
  loaded: z.boolean(),
  prefill_tokens_per_second: z.number(),
  decode_tokens_per_second: z.number(),
  /** It is being loaded. */
  loading: z.boolean(),
  /** Estimated memory that it holds while it is loaded; null: unknown. */
  memory_bytes: Count.nullable(),
  verified: Verified,
});

export const NetworkReport = z.object({
  object: z.literal('network'),
  self: z.object({ peer: z.string(), software: z.string() }),
  /** The gateways of the database, this one first. `silent`: no heartbeat for some seconds. */
  gateways: z.array(
    z.object({ peer: z.string(), self: z.boolean(), connected: z.boolean(), state: z.enum(['running', 'silent']) }),
  ),
  peers: z.array(
    z.object({
      peer: z.string(),
      role: z.enum(['worker', 'other']),
      /** Null: only known by gossip. */
      connected_since: z.string().nullable(),
      round_trip_ms: z.number().nullable(),
      software: z.string().nullable(),
      models: z.array(PeerModel),
      running: Count,
      waiting: Count,
      /** What loaded models may hold and hold; null: unknown, or all models are always loaded. */
      memory: z.object({ budget_bytes: Count, held_bytes: Count }).nullable(),
      /** Null for peers that are not workers. */
      standing: z.object({ state: z.string(), trust: z.number(), audits: Count }).nullable(),
    }),
  ),
  models: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      sha256: z.string(),
      workers: Count,
      /** Workers that have it loaded, and that are loading it. */
      loaded: Count,
      loading: Count,
      slots: Count,
      running: Count,
      waiting: Count,
      /** The weakest of its workers. */
      verified: Verified,
    }),
  ),
  /** The most recent audits, newest first. */
  audits: z.array(
    z.object({ at: z.string(), kind: z.enum(['answer', 'challenge']), worker: z.string(), outcome: z.string() }),
  ),
  totals: z.object({ peers: Count, workers: Count, models: Count, slots: Count, running: Count, waiting: Count }),
});
export type NetworkReport = z.output<typeof NetworkReport>;

export interface KnownPeer {
  readonly peer: string;
  readonly connectedSince: Date | undefined;
  readonly roundTripMs: number | undefined;
  readonly load: { readonly running: number; readonly waiting: number } | undefined;
  readonly offer: Offer | undefined;
  readonly reputation: Reputation | undefined;
  /** 0 to 1. */
  readonly trust: number;
  readonly verified: (modelSha256: string) => Verified;
}

type NetworkModel = Omit<NetworkReport['models'][number], 'loaded' | 'loading'>;

export interface NetworkFacts {
  readonly self: { readonly peer: string; readonly software: string };
  /** The other gateways of the database. */
  readonly gateways: readonly KnownGateway[];
  readonly peers: readonly KnownPeer[];
  readonly models: readonly NetworkModel[];
  /** Newest first. */
  readonly audits: readonly AuditRecord[];
}

/** Bounded, whatever peers report about themselves; connected peers come first. */
export function networkReport({ self, gateways, peers, models, audits }: NetworkFacts): NetworkReport {
  const reports = peers.map(peerReport);
  const workers = reports.filter(({ role, connected_since }) => role === 'worker' && connected_since !== null);
  const isConnected = new Set(peers.filter(({ connectedSince }) => connectedSince).map(({ peer }) => peer));
  const sum = (of: (model: NetworkModel) => number) => models.reduce((total, model) => total + of(model), 0);
  return {
    object: 'network',
    self,
    gateways: [
      { peer: self.peer, self: true, connected: true, state: 'running' as const },
      ...gateways.map(({ peer, state }) => ({ peer, self: false, connected: isConnected.has(peer), state })),
    ].slice(0, MAX_GATEWAYS),
    peers: reports.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_PEERS),
    models: models.map((model) => ({ ...model, ...loadsOf(model.sha256, peers) })),
    audits: audits.map(({ atMs, kind, peer, outcome }) => ({
      at: new Date(atMs).toISOString(),
      kind,
      worker: peer,
      outcome,
    })),
    totals: {
      peers: peers.length,
      workers: workers.length,
      models: models.length,
      slots: sum(({ slots }) => slots),
      running: sum(({ running }) => running),
      waiting: sum(({ waiting }) => waiting),
    },
  };
}

/** How many connected workers have the model loaded, and how many are loading it. */
function loadsOf(sha256: string, peers: readonly KnownPeer[]): { readonly loaded: number; readonly loading: number } {
  const offered = peers.flatMap(({ connectedSince, offer }) =>
    connectedSince === undefined ? [] : (offer?.models.find((model) => model.sha256 === sha256) ?? []),
  );
  const loaded = offered.filter(({ loadMs }) => loadMs === undefined).length;
  return { loaded, loading: offered.filter(({ loadMs, isLoading }) => loadMs !== undefined && isLoading).length };
}

type PeerReport = NetworkReport['peers'][number];

const rankOf = ({ role, connected_since }: PeerReport): number =>
  (connected_since === null ? 2 : 0) + (role === 'worker' ? 0 : 1);

function peerReport({
  peer,
  connectedSince,
  roundTripMs,
  load,
  offer,
  reputation,
  trust,
  verified,
}: KnownPeer): PeerReport {
  return {
    peer,
    role: offer ? 'worker' : 'other',
    connected_since: connectedSince?.toISOString() ?? null,
    round_trip_ms: roundTripMs === undefined ? null : Math.round(roundTripMs * 100) / 100,
    software: offer?.software ?? null,
    models: (offer?.models ?? []).slice(0, MAX_PEER_MODELS).map((model) => ({
      name: model.name.slice(0, 100),
      sha256: model.sha256,
      quantisation: model.quantisation,
      context_length: model.contextLength,
      slots: model.slots,
      loaded: model.loadMs === undefined,
      prefill_tokens_per_second: model.prefillTokensPerSecond,
      decode_tokens_per_second: model.decodeTokensPerSecond,
      loading: model.loadMs !== undefined && (model.isLoading ?? false),
      memory_bytes: model.memoryBytes ?? null,
      verified: verified(model.sha256),
    })),
    running: load?.running ?? offer?.running ?? 0,
    waiting: load?.waiting ?? offer?.waiting ?? 0,
    memory: memoryOf(offer),
    standing: offer && reputation ? { state: reputation.state, trust, audits: reputation.audits } : null,
  };
}

function memoryOf(offer: Offer | undefined): PeerReport['memory'] {
  const { memoryBudgetBytes: budget, memoryHeldBytes: held } = offer ?? {};
  return budget === undefined || held === undefined ? null : { budget_bytes: budget, held_bytes: held };
}

interface KnownPeersDeps {
  readonly node: PeerNode;
  readonly directory: Pick<Directory, 'worker' | 'workers'>;
  readonly sessions: Pick<Sessions, 'all'>;
  readonly trust: Pick<Trust, 'of' | 'reputation' | 'verified'>;
}

/** All known peers: connected peers, and workers known by gossip. */
export function knownPeers({ node, directory, sessions, trust }: KnownPeersDeps): readonly KnownPeer[] {
  const since = new Map(node.peers.connected().map(({ id, connectedAt }) => [id, connectedAt]));
  const peers = new Set([...since.keys(), ...sessions.all.keys(), ...directory.workers().map(({ peer }) => peer)]);
  return [...peers].map((peer) => {
    const session = sessions.all.get(peer);
    const offer = directory.worker(peer)?.offer;
    return {
      ...{ peer, offer, load: session?.load, reputation: offer && trust.reputation(peer) },
      connectedSince: since.get(peer),
      roundTripMs: session?.rttMs ?? node.peers.roundTripMs(peer),
      trust: trust.of(peer),
      verified: (modelSha256) => trust.verified(peer, modelSha256),
    };
  });
}
