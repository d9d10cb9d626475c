// The connection gate: refuses connections to itself, peers outside the allow-list, too frequent attempts, and a single
// machine that would take the slots of all other machines.
import type { Connection, ConnectionGater, MultiaddrConnection, PeerId } from '@libp2p/interface';
import { RateLimiter } from '@strata/limits';
import { CONNECTIONS } from '../limits.ts';
import { connectionToEvict } from './connection-to-evict.ts';
import { isNeverDialled } from './never-dialled.ts';
import { remoteHost } from './remote-host.ts';

export interface Gate {
  /** Whether a peer may connect, and its messages are accepted and forwarded. */
  isAllowed(peer: string): boolean;
  readonly gater: ConnectionGater;
}

interface GateDeps {
  /** Peer ids that may connect; undefined: all may. */
  readonly allow: readonly string[] | undefined;
  /** Peers named by the operator: they are not evicted. */
  readonly named: readonly string[];
  /** The current connections, of one peer or of all. */
  readonly connections: (peer?: PeerId) => readonly Connection[];
  /** Whether there is a channel over it. */
  readonly isBusy: (connection: Connection) => boolean;
  /** Called for a peer that is not on the allow-list, once a minute for each. */
  readonly onRefused: (peer: string) => void;
}

const EVICTED = 'the connection was evicted: all slots are taken';

export function createGate(self: string, { allow, named, connections, isBusy, onRefused }: GateDeps): Gate {
  const allowed = allow && new Set(allow);
  const kept = new Set(named);
  const pending = new Map<string, Set<MultiaddrConnection>>();
  const reported = new RateLimiter({ limit: 1, period: 60_000, refill: 'steady', now: Date.now, maxNames: 1_000 });
  const isAllowed = (peer: string) => peer !== self && (allowed?.has(peer) ?? true);
  const isDenied = (peer: PeerId) => !isAllowed(peer.toString());

  const giver = (host: string) => {
    const slots = connections().map((connection) => ({
      connection,
      host: remoteHost(connection.remoteAddr),
      isKept: connection.direction === 'outbound' || kept.has(connection.remotePeer.toString()),
      isBusy: isBusy(connection),
      openedAtMs: connection.timeline.open,
    }));
    return connectionToEvict(slots, host, Date.now())?.connection;
  };
  const isFull = () => connections().length >= CONNECTIONS.max;
  const settle = (connection: MultiaddrConnection) => {
    const host = remoteHost(connection.remoteAddr);
    const some = pending.get(host);
    some?.delete(connection);
    if (some?.size === 0) pending.delete(host);
  };

  return {
    isAllowed,
    gater: {
      denyDialPeer: isDenied,
      denyDialMultiaddr: isNeverDialled,
      denyInboundConnection: (connection) => {
        // It arrived over a connection that was already accepted.
        if (isRelayed(connection)) return false;
        const host = remoteHost(connection.remoteAddr);
        const some = pending.get(host) ?? new Set();
        if (some.size >= CONNECTIONS.maxPendingPerHost) return true;
        // Nothing is evicted for a peer that has not proved its key yet.
        if (isFull() && !giver(host)) return true;
        pending.set(host, some.add(connection));
        connection.addEventListener('close', () => settle(connection));
        return false;
      },
      // Before the handshake only the address is known; the key is proved after it.
      denyInboundEncryptedConnection: (peer) => {
        const name = peer.toString();
        if (!isDenied(peer)) return false;
        if (name !== self && reported.take(name) === 0) onRefused(name);
        return true;
      },
      denyOutboundEncryptedConnection: isDenied,
      denyInboundUpgradedConnection: (peer, connection) => {
        settle(connection);
        if (connections(peer).length >= CONNECTIONS.maxPerPeer) return true;
        if (!isFull()) return false;
        const other = giver(remoteHost(connection.remoteAddr));
        other?.abort(new Error(EVICTED));
        return other === undefined;
      },
      denyInboundRelayReservation: isDenied,
      denyOutboundRelayedConnection: (source, destination) => isDenied(source) || isDenied(destination),
      denyInboundRelayedConnection: (_relay, peer) => isDenied(peer),
    },
  };
}

function isRelayed({ remoteAddr }: MultiaddrConnection): boolean {
  return remoteAddr.getComponents().some(({ name }) => name === 'p2p-circuit');
}
