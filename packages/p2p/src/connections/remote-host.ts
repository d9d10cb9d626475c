// The machine at the other end of a connection, as far as its address identifies it: a peer can have any number of
// keys, but few addresses.
import type { Multiaddr } from '@multiformats/multiaddr';

/**
 * The IPv4 address, or the first half of the IPv6 address, because one line has all the rest. For a relayed connection,
 * the relay's address. Empty if the address begins with neither.
 */
export function remoteHost(address: Multiaddr): string {
  const [first, second] = address.getComponents();
  const network = first?.name === 'ip6zone' ? second : first;
  if (network?.name === 'ip4') return network.value ?? '';
  if (network?.name !== 'ip6') return '';
  const { hostname } = new URL(`http://[${network.value}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  // ::ffff:a.b.c.d, from a dual-stack socket.
  const isIp4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isIp4 ? ip4Of(groups) : `${groups.slice(0, 4).join(':')}::`;
}

function ip4Of(groups: readonly string[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
    .join('.');
}
