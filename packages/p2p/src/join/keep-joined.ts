// Keeps a host joined: joins until one target answers, again after the last one disconnects, and falls back on known peers.
import type { Libp2p } from '@libp2p/interface';
import type { Ping } from '@libp2p/ping';
import { multiaddr } from '@multiformats/multiaddr';
import { JOIN, KNOWN_PEERS } from '../limits.ts';
import { type JoinOptions, type JoinTarget, joinTarget } from './join-target.ts';
import type { KnownPeers } from './known-peers.ts';

/** Runs until the signal is aborted, and then resolves. */
export async function keepJoined(
  node: Libp2p<{ ping: Ping }>,
  targets: readonly JoinTarget[],
  knownPeers: KnownPeers,
  options: JoinOptions,
): Promise<void> {
  const { signal } = options;
  let retryMs: number = JOIN.retryMs;
  while (!signal.aborted) {
    if (isJoined(node, targets)) {
      retryMs = JOIN.retryMs;
      await happened(node, 'peer:disconnect', signal);
      continue;
    }
    await Promise.allSettled(targets.map((target) => joinTarget(node, target, options)));
    if (node.getPeers().length === 0) await dialKnown(node, knownPeers, signal);
    if (isJoined(node, targets)) continue;
    // Jitter: hosts that lost the same peer at the same time do not reconnect at the same time.
    await happened(node, 'peer:connect', signal, retryMs * (0.5 + Math.random() / 2));
    retryMs = Math.min(2 * retryMs, JOIN.longestRetryMs);
  }
}

/** A host with targets needs one of them; for a host without targets any connection is enough. */
function isJoined(node: Libp2p, targets: readonly JoinTarget[]): boolean {
  if (targets.length === 0) return node.getPeers().length > 0;
  return targets.some(({ peer }) => node.getConnections(peer).length > 0 || node.peerId.equals(peer));
}

/** Dials the most recently observed peers first, several at a time, until one answers. */
async function dialKnown(node: Libp2p, knownPeers: KnownPeers, signal: AbortSignal): Promise<void> {
  const peers = knownPeers.list();
  for (let at = 0; at < peers.length && !signal.aborted; at += KNOWN_PEERS.dialledAtOnce) {
    const some = peers.slice(at, at + KNOWN_PEERS.dialledAtOnce);
    await Promise.allSettled(
      some.map(async ({ addresses }) =>
        node.dial(
          addresses.map((address) => multiaddr(address)),
          { signal },
        ),
      ),
    );
    if (node.getPeers().length > 0) return;
  }
}

/** Resolves on the event, when the signal is aborted, or after the given milliseconds. */
function happened(
  node: Libp2p,
  event: 'peer:connect' | 'peer:disconnect',
  signal: AbortSignal,
  maxMs?: number,
): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      node.removeEventListener(event, settle);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const timer = maxMs === undefined ? undefined : setTimeout(settle, maxMs);
    node.addEventListener(event, settle);
    signal.addEventListener('abort', settle);
    if (signal.aborted) settle();
  });
}
