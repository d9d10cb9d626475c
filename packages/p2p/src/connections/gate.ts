// The connection gate: refuses connections to itself, peers outside the allow-list, too frequent attempts, and a single
// machine that would take the slots of all other machines.
import { BlockList } from 'node:net';
import type { Connection, ConnectionGater, MultiaddrConnection, PeerId } from '@libp2p/interface';
import type { Multiaddr } from '@multiformats/multiaddr';
import { RateLimiter } from '@strata/limits';
import { CONNECTIONS } from '../limits.ts';
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

// Chooses the connection to evict when all slots are taken: addresses with many connections, which one machine with
// many keys can open, lose connections before addresses with few.
interface ConnectionSlot {
  readonly host: string;
  /** Dialled by this host, or named by the operator. */
  readonly isKept: boolean;
  /** It has a channel. */
  readonly isBusy: boolean;
  readonly openedAtMs: number;
}

/**
 * The connection to close for a new one from `host`, undefined if the new one must be refused: an idle one of an
 * address with
 * more connections, or a long idle one of an address with as many; a busy one only of an address that has far too
 * many. The youngest is closed first.
 */
export function connectionToEvict<T extends ConnectionSlot>(
  slots: readonly T[],
  host: string,
  nowMs: number,
): T | undefined {
  const counts = new Map<string, number>();
  for (const slot of slots) counts.set(slot.host, (counts.get(slot.host) ?? 0) + 1);
  const countOf = (name: string) => counts.get(name) ?? 0;
  const own = countOf(host);
  const isEvictable = (slot: T) => {
    if (slot.isKept) return false;
    const count = countOf(slot.host);
    const isCrowded = count > own + 1;
    if (slot.isBusy) return isCrowded && count > CONNECTIONS.maxBusyPerHostWhenFull;
    return isCrowded || (count >= own && nowMs - slot.openedAtMs > CONNECTIONS.idleWhenFullMs);
  };
  const order = (a: T, b: T) =>
    Number(a.isBusy) - Number(b.isBusy) || countOf(b.host) - countOf(a.host) || b.openedAtMs - a.openedAtMs;
  return slots.filter(isEvictable).toSorted(order)[0];
}

const never = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  // Link-local, including the metadata services of clouds; then addresses of other types.
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  never.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  // IPv4 behind a translator (NAT64).
  ['64:ff9b::', 96],
] as const)
  never.addSubnet(net, bits, 'ipv6');

/** Private addresses are not included: workers and gateways of one network use them. */
function isNeverDialled(address: Multiaddr): boolean {
  return address.getComponents().some(({ name, value }) => {
    if (value === undefined) return false;
    // A BlockList reads `::ffff:169.254.169.254` as the address that it wraps.
    if (name === 'ip4') return never.check(value, 'ipv4');
    return name === 'ip6' && never.check(value, 'ipv6');
  });
}
