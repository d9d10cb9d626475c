// All known peers for the report: connected peers, and workers known by gossip.
import type { Directory, Reputation } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import type { Trust } from './audit/trust.ts';
import type { KnownPeer } from './network-report.ts';
import type { Sessions } from './session/sessions.ts';

export interface KnownPeersDeps {
  readonly node: PeerNode;
  readonly directory: Pick<Directory, 'worker' | 'workers'>;
  readonly sessions: Pick<Sessions, 'all'>;
  readonly trust: Pick<Trust, 'of' | 'reputation'>;
}

export function knownPeers({ node, directory, sessions, trust }: KnownPeersDeps): readonly KnownPeer[] {
  const since = new Map(node.peers.connected().map(({ id, connectedAt }) => [id, connectedAt]));
  const peers = new Set([...since.keys(), ...sessions.all.keys(), ...directory.workers().map(({ peer }) => peer)]);
  return [...peers].map((peer) => {
    const session = sessions.all.get(peer);
    const offer = directory.worker(peer)?.offer;
    const reputation: Reputation | undefined = offer ? trust.reputation(peer) : undefined;
    return {
      ...{ peer, offer, reputation, load: session?.load },
      connectedSince: since.get(peer),
      roundTripMs: session?.rttMs ?? node.peers.roundTripMs(peer),
      trust: trust.of(peer),
    };
  });
}
