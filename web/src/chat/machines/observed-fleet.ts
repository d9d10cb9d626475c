// The workers of the network as they were seen over time: who is there, who came, and who has gone.
import type { Network, Peer } from '../inference.ts';

/** Those who went are shown so long. */
const REMEMBERED_MS = 15 * 60_000;
const MAX_EVENTS = 30;

export interface Gone {
  readonly peer: Peer;
  /** Milliseconds since the epoch: when it was missed first, two seconds late at most. */
  readonly at: number;
}

export interface FleetEvent {
  readonly kind: 'joined' | 'gone';
  readonly peer: string;
  readonly at: number;
}

export interface Fleet {
  readonly peers: readonly Peer[];
  readonly gone: readonly Gone[];
  /** Newest first. */
  readonly events: readonly FleetEvent[];
}

export const NO_FLEET: Fleet = { peers: [], gone: [], events: [] };

const isThere = ({ role, connected_since }: Peer) => role === 'worker' && connected_since !== null;

/** The fleet after a report; the first report tells of nobody as new. */
export function seenFleet(before: Fleet | undefined, { peers }: Pick<Network, 'peers'>, at: number): Fleet {
  const workers = peers.filter(isThere);
  const ids = new Set(workers.map(({ peer }) => peer));
  const known = new Set(before?.peers.map(({ peer }) => peer));
  const left = before?.peers.filter(({ peer }) => !ids.has(peer)) ?? [];
  const joined = before ? workers.filter(({ peer }) => !known.has(peer)) : [];
  const events = [
    ...joined.map(({ peer }) => ({ kind: 'joined' as const, peer, at })),
    ...left.map(({ peer }) => ({ kind: 'gone' as const, peer, at })),
  ];
  const gone = [...left.map((peer) => ({ peer, at })), ...(before?.gone ?? [])];
  return {
    peers: workers,
    gone: gone.filter((one) => !ids.has(one.peer.peer) && at - one.at < REMEMBERED_MS),
    events: [...events, ...(before?.events ?? [])].slice(0, MAX_EVENTS),
  };
}
