// The workers of the network over time: connected, recently joined, and recently disconnected.
import type { Network, Peer } from '../inference.ts';

/** How long disconnected workers are shown. */
const REMEMBERED_MS = 15 * 60_000;
const MAX_EVENTS = 30;

interface OfflineWorker {
  readonly peer: Peer;
  /** Milliseconds since the epoch of the first report without it; at most one polling interval late. */
  readonly at: number;
}

interface FleetEvent {
  readonly kind: 'joined' | 'left';
  readonly peer: string;
  readonly at: number;
}

export interface Fleet {
  readonly peers: readonly Peer[];
  readonly offline: readonly OfflineWorker[];
  /** Newest first. */
  readonly events: readonly FleetEvent[];
}

export const NO_FLEET: Fleet = { peers: [], offline: [], events: [] };

const isConnectedWorker = ({ role, connected_since }: Peer) => role === 'worker' && connected_since !== null;

/** The fleet after a report; the first report yields no events. */
export function nextFleet(before: Fleet | undefined, { peers }: Pick<Network, 'peers'>, at: number): Fleet {
  const workers = peers.filter(isConnectedWorker);
  const ids = new Set(workers.map(({ peer }) => peer));
  const known = new Set(before?.peers.map(({ peer }) => peer));
  const left = before?.peers.filter(({ peer }) => !ids.has(peer)) ?? [];
  const joined = before ? workers.filter(({ peer }) => !known.has(peer)) : [];
  const events = [
    ...joined.map(({ peer }) => ({ kind: 'joined' as const, peer, at })),
    ...left.map(({ peer }) => ({ kind: 'left' as const, peer, at })),
  ];
  const offline = [...left.map((peer) => ({ peer, at })), ...(before?.offline ?? [])];
  return {
    peers: workers,
    offline: offline.filter((one) => !ids.has(one.peer.peer) && at - one.at < REMEMBERED_MS),
    events: [...events, ...(before?.events ?? [])].slice(0, MAX_EVENTS),
  };
}
