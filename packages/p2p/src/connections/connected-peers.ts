// Lists and watches connected peers.
import type { Libp2p, PeerId } from '@libp2p/interface';
import type { ConnectedPeer, PeerEvent } from '../peer-node.ts';

/** One entry per connection: a peer may temporarily have two. */
export function connectedPeers(node: Libp2p): readonly ConnectedPeer[] {
  return node.getConnections().map((connection) => ({
    id: connection.remotePeer.toString(),
    address: connection.remoteAddr.toString(),
    direction: connection.direction,
    isLimited: connection.limits !== undefined,
    connectedAt: new Date(connection.timeline.open),
  }));
}

export function watchPeers(node: Libp2p, listener: (event: PeerEvent) => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  node.addEventListener(
    'peer:connect',
    ({ detail }: CustomEvent<PeerId>) => listener({ kind: 'connected', peer: detail.toString() }),
    { signal },
  );
  node.addEventListener(
    'peer:disconnect',
    ({ detail }: CustomEvent<PeerId>) => listener({ kind: 'disconnected', peer: detail.toString() }),
    { signal },
  );
  for (const peer of node.getPeers()) listener({ kind: 'connected', peer: peer.toString() });
}
