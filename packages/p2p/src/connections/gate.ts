// Who may connect: not oneself, only those of the allow-list where there is one, nobody too often, and no machine in place of
// all others.
import type { Connection, ConnectionGater, MultiaddrConnection, PeerId } from '@libp2p/interface';
import { CONNECTIONS } from '../limits.ts';
import { RateLimit } from '../rate-limit.ts';
import { connectionToEvict } from './connection-to-evict.ts';
import { isNeverDialled } from './never-dialled.ts';
import { remoteHost } from './remote-host.ts';

export interface Gate {
  /** Whether a peer may be met, heard and passed on. */
  isAllowed(peer: string): boolean;
  readonly gater: ConnectionGater;
}

export interface GateDeps {
  /** Peer ids that may connect; undefined: all may. */
  readonly allow: readonly string[] | undefined;
  /** Those that the operator named: they do not give way. */
  readonly named: readonly string[];
  /** The connections that there are, of one peer or of all. */
  readonly connections: (peer?: PeerId) => readonly Connection[];
  /** Whether somebody has a channel over it. */
  readonly isBusy: (connection: Connection) => boolean;
  /** Hears who came and is not on the allow-list, each once a minute. */
  readonly onRefused: (peer: string) => void;
}

const GAVE_WAY = 'all places are taken: it gave way to another';

export function createGate(self: string, { allow, named, connections, isBusy, onRefused }: GateDeps): Gate {
  const allowed = allow && new Set(allow);
  const kept = new Set(named);
  const pending = new Map<string, Set<MultiaddrConnection>>();
  const told = new RateLimit({ burst: 1, perSecond: 1 / 60, max: 1_000 });
  const isAllowed = (peer: string) => peer !== self && (allowed?.has(peer) ?? true);
  const isDenied = (peer: PeerId) => !isAllowed(peer.toString());

  const giver = (host: string) => {
    const places = connections().map((connection) => ({
      connection,
      host: remoteHost(connection.remoteAddr),
      isKept: connection.direction === 'outbound' || kept.has(connection.remotePeer.toString()),
      isBusy: isBusy(connection),
      openedAtMs: connection.timeline.open,
    }));
    return connectionToEvict(places, host, Date.now())?.connection;
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
        // It came over a connection that was let in.
        if (isRelayed(connection)) return false;
        const host = remoteHost(connection.remoteAddr);
        const some = pending.get(host) ?? new Set();
        if (some.size >= CONNECTIONS.maxPendingPerHost) return true;
        // Nobody gives way yet to who has not even proved a key.
        if (isFull() && !giver(host)) return true;
        pending.set(host, some.add(connection));
        connection.addEventListener('close', () => settle(connection));
        return false;
      },
      // Before the handshake only the address is known; the key is proved after it.
      denyInboundEncryptedConnection: (peer) => {
        const name = peer.toString();
        if (!isDenied(peer)) return false;
        if (name !== self && told.take(name, Date.now())) onRefused(name);
        return true;
      },
      denyOutboundEncryptedConnection: isDenied,
      denyInboundUpgradedConnection: (peer, connection) => {
        settle(connection);
        if (connections(peer).length >= CONNECTIONS.maxPerPeer) return true;
        if (!isFull()) return false;
        const other = giver(remoteHost(connection.remoteAddr));
        other?.abort(new Error(GAVE_WAY));
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
