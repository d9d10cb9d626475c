// Addresses that no host of the network has but that a peer may announce: dialling them would attack third parties or
// local services.
import { BlockList } from 'node:net';
import type { Multiaddr } from '@multiformats/multiaddr';

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
export function isNeverDialled(address: Multiaddr): boolean {
  return address.getComponents().some(({ name, value }) => {
    if (value === undefined) return false;
    // A BlockList reads `::ffff:169.254.169.254` as the address that it wraps.
    if (name === 'ip4') return never.check(value, 'ipv4');
    return name === 'ip6' && never.check(value, 'ipv6');
  });
}
