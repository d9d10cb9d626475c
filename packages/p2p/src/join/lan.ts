// Discovers peers of the same LAN by multicast DNS, under a service name for each network.

import type { Libp2p, PeerInfo } from '@libp2p/interface';
import { mdns } from '@libp2p/mdns';
import { multiaddr } from '@multiformats/multiaddr';
import type { Libp2pOptions } from 'libp2p';
import type { Gate } from '../connections/gate.ts';
import { lanServiceName } from '../identity/private-network.ts';

type Discovery = NonNullable<Libp2pOptions['peerDiscovery']>[number];

/** Above this number the DHT and gossip are enough: a large LAN does not need a full mesh. */
const MAX_LAN_PEERS = 32;
const QUERY_INTERVAL_MS = 5_000;

interface Lan {
  readonly discovery: Discovery;
  /** Starts dialling discovered peers. */
  meet(node: Libp2p, gate: Gate): void;
}

export function createLan(networkKey: Uint8Array | undefined): Lan {
  let onPeer: (peer: PeerInfo) => void = () => {};
  const create = mdns({ serviceTag: lanServiceName(networkKey), interval: QUERY_INTERVAL_MS });
  return {
    discovery: (components) => {
      const service = create(components);
      service.addEventListener('peer', ({ detail }) => onPeer(detail));
      return service;
    },
    meet(node, gate) {
      onPeer = ({ id, multiaddrs }) => {
        const isWanted = gate.isAllowed(id.toString()) && node.getPeers().length < MAX_LAN_PEERS;
        if (!isWanted || node.getConnections(id).length > 0) return;
        const addresses = multiaddrs.map((address) => multiaddr(`${address}/p2p/${id}`));
        // mDNS reports it again with the next query.
        node.dial(addresses).catch(() => {});
      };
    },
  };
}
