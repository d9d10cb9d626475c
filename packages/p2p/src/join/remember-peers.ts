// Records known addresses: those that were dialled successfully, and those that a connected peer announces.
import type { Libp2p } from '@libp2p/interface';
import type { KnownPeers } from './known-peers.ts';

export function rememberPeers(node: Libp2p, knownPeers: KnownPeers, signal: AbortSignal): void {
  node.addEventListener(
    'peer:identify',
    ({ detail: { peerId, connection, listenAddrs } }) => {
      const suffix = `/p2p/${peerId}`;
      const reached = connection.direction === 'outbound' && { reached: connection.remoteAddr.toString() };
      const announced = listenAddrs
        .map(String)
        .map((address) => (address.endsWith(suffix) ? address : `${address}${suffix}`));
      knownPeers.add(peerId.toString(), { ...reached, announced }, new Date());
    },
    { signal },
  );
}
