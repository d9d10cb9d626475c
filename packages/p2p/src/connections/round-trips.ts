// Round-trip times of peers: the median of the last pings, the first one at connect.
import type { Libp2p, PeerId } from '@libp2p/interface';
import type { Ping } from '@libp2p/ping';
import { LIVENESS } from '../limits.ts';
import type { ConnectedPeer, PeerEvent } from '../peer-node.ts';

const SAMPLES = 5;

export class RoundTrips implements Disposable {
  readonly #node: Libp2p<{ ping: Ping }>;
  readonly #samples = new Map<string, readonly number[]>();
  readonly #timer: NodeJS.Timeout;
  readonly #stop = new AbortController();

  constructor(node: Libp2p<{ ping: Ping }>) {
    this.#node = node;
    node.addEventListener('peer:connect', this.#connected);
    node.addEventListener('peer:disconnect', this.#disconnected);
    // The connection monitor sends the pings; this reads their results.
    this.#timer = setInterval(() => this.#sample(), LIVENESS.pingIntervalMs).unref();
  }

  /** Milliseconds; undefined until known. */
  of(peer: string): number | undefined {
    const sorted = this.#samples.get(peer)?.toSorted((a, b) => a - b);
    return sorted?.[Math.floor(sorted.length / 2)];
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    clearInterval(this.#timer);
    this.#node.removeEventListener('peer:connect', this.#connected);
    this.#node.removeEventListener('peer:disconnect', this.#disconnected);
  }

  readonly #connected = ({ detail }: CustomEvent<PeerId>): void => {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(LIVENESS.pingTimeoutMs)]);
    this.#node.services.ping.ping(detail, { signal }).then(
      (ms) => this.#add(detail.toString(), ms),
      // Unknown until the monitor has pinged the peer, or closed the connection.
      () => {},
    );
  };

  readonly #disconnected = ({ detail }: CustomEvent<PeerId>): void => {
    this.#samples.delete(detail.toString());
  };

  #sample(): void {
    for (const { remotePeer, rtt } of this.#node.getConnections())
      if (rtt !== undefined) this.#add(remotePeer.toString(), rtt);
  }

  #add(peer: string, ms: number): void {
    // A pong may arrive after the connection was closed.
    if (
      this.#stop.signal.aborted ||
      this.#node.getConnections().every(({ remotePeer }) => remotePeer.toString() !== peer)
    )
      return;
    this.#samples.set(peer, [...(this.#samples.get(peer) ?? []), ms].slice(-SAMPLES));
  }
}

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
