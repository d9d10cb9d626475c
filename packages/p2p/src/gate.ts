// Who may connect: not oneself, only those of the allow-list where there is one, and nobody too often.
import type { Connection, ConnectionGater, PeerId } from '@libp2p/interface';
import { CONNECTIONS } from './limits.ts';

export interface Gate {
  /** Whether a peer may be met, heard and passed on. */
  isAllowed(peer: string): boolean;
  readonly gater: ConnectionGater;
}

/** `connectionsTo` gives the connections that there are. */
export function createGate(
  self: string,
  allow: readonly string[] | undefined,
  connectionsTo: (peer: PeerId) => readonly Connection[],
): Gate {
  const allowed = allow && new Set(allow);
  const isAllowed = (peer: string) => peer !== self && (allowed?.has(peer) ?? true);
  const isDenied = (peer: PeerId) => !isAllowed(peer.toString());
  return {
    isAllowed,
    gater: {
      denyDialPeer: isDenied,
      // Before the handshake only the address is known; the key is proved after it.
      denyInboundEncryptedConnection: isDenied,
      denyOutboundEncryptedConnection: isDenied,
      denyInboundUpgradedConnection: (peer) => connectionsTo(peer).length >= CONNECTIONS.mostPerPeer,
      denyInboundRelayReservation: isDenied,
      denyOutboundRelayedConnection: (source, destination) => isDenied(source) || isDenied(destination),
      denyInboundRelayedConnection: (_relay, peer) => isDenied(peer),
    },
  };
}
