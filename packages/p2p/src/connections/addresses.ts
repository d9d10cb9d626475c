// Which addresses a host announces, and to whom.
import type { PeerId } from '@libp2p/interface';
import { removePrivateAddressesMapper } from '@libp2p/kad-dht';
import type { Multiaddr } from '@multiformats/multiaddr';
import type { Libp2pOptions } from 'libp2p';
import type { PeerNodeOptions } from '../peer-node.ts';

/** With a peer id, private addresses are not announced, by the same rule as in the DHT. */
export function addressOptions(
  { listen, announce = [] }: PeerNodeOptions,
  onlyPublicOf: PeerId | undefined,
): NonNullable<Libp2pOptions['addresses']> {
  return {
    listen: [...listen],
    announce: [...announce],
    ...(onlyPublicOf && {
      announceFilter: (multiaddrs) => removePrivateAddressesMapper({ id: onlyPublicOf, multiaddrs }).multiaddrs,
    }),
  };
}

/**
 * Public addresses, then private ones, because one that never answers costs seconds; loopback only if there is nothing
 * else.
 */
export function farthestFirst(peer: PeerId, multiaddrs: Multiaddr[]): readonly string[] {
  const open = removePrivateAddressesMapper({ id: peer, multiaddrs }).multiaddrs.map(String);
  const addresses = [...new Set([...open, ...multiaddrs.map(String)])];
  const far = addresses.filter((address) => !isLoopbackOnly([address]));
  return far.length > 0 ? far : addresses;
}

/** A host on loopback only has nothing to announce on a LAN; and hosts of different tests must not meet. */
export function isLoopbackOnly(listen: readonly string[]): boolean {
  return listen.length > 0 && listen.every((address) => /^\/ip4\/127\.|^\/ip6\/::1\//.test(address));
}
