// Which machine is at the other end of a connection, as far as an address tells: what strangers have as many of as they like
// are keys, not addresses.
import type { Multiaddr } from '@multiformats/multiaddr';

/**
 * The IPv4 address, or the first half of the IPv6 address, since one line is given all of the rest. Of a relayed connection it
 * is the relay. Empty where the address begins with neither.
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
  // ::ffff:a.b.c.d, as a socket of both families says it.
  const isIp4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isIp4 ? ip4Of(groups) : `${groups.slice(0, 4).join(':')}::`;
}

function ip4Of(groups: readonly string[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
    .join('.');
}
