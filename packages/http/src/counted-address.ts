// Whom a limit by address counts as one caller: keys are had by the million, lines to the internet are not.
import { isIP } from 'node:net';

/**
 * An IPv4 address as it is; of an IPv6 address the first 64 bits, since one line is given all of the rest. `::ffff:a.b.c.d`,
 * as a socket of both families says it, is the IPv4 address. What is no address at all, as a careless proxy may send it, is
 * one caller: `unknown`.
 */
export function countedAddress(address: string): string {
  const [bare = ''] = address.split('%');
  const family = isIP(bare);
  if (family === 4) return bare;
  if (family === 0) return 'unknown';
  const { hostname } = new URL(`http://[${bare}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMapped ? ip4Of(groups.slice(6)) : `${groups.slice(0, 4).join(':')}::/64`;
}

function ip4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
