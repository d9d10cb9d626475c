// The machine at the other end of a connection, as far as its address identifies it: a peer can have any number of
// keys, but few addresses.
import type { Multiaddr } from '@multiformats/multiaddr';
import ipaddr from 'ipaddr.js';

/**
 * The IPv4 address, or the first half of the IPv6 address, because one line has all the rest. For a relayed connection,
 * the relay's address. Empty if the address begins with neither.
 */
export function remoteHost(address: Multiaddr): string {
  const [first, second] = address.getComponents();
  const network = first?.name === 'ip6zone' ? second : first;
  if (network?.name === 'ip4') return network.value ?? '';
  if (network?.name !== 'ip6') return '';
  // ::ffff:a.b.c.d, from a dual-stack socket, is read as the IPv4 address.
  const ip = ipaddr.process(network.value ?? '');
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  const groups = ip.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::`;
}
