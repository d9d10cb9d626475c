// Whom a limit by address counts as one caller: keys are had by the million, lines to the internet are not.
import { isIP } from 'node:net';

/** What a limit counts together, and how many times what one address may have. */
export interface CountedNetwork {
  readonly name: string;
  readonly times: number;
}

/**
 * Providers give a line a /64, a /56 or a /48 (RFC 6177), which holds 256 and 65,536 of the first: whoever has a larger network
 * gets more than one line, and less than its addresses would.
 */
const TIMES = { 56: 4, 48: 16, all: 1_000 } as const;

/**
 * An IPv4 address as it is; of an IPv6 address the first 64 bits, since one line is given all of the rest. `::ffff:a.b.c.d`,
 * as a socket of both families says it, is the IPv4 address. What is no address at all, as a careless proxy may send it, is
 * one caller: `unknown`. The result of this function is itself an address to it.
 */
export function countedAddress(address: string): string {
  const [bare = ''] = address.split(/%|\/64$/);
  const family = isIP(bare);
  if (family === 4) return bare;
  if (family === 0) return 'unknown';
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMapped ? ip4Of(groups.slice(6)) : `${groups.slice(0, 4).join(':')}::/64`;
}

/** The address as a limit counts it, the networks around it, and all callers of the service: the narrowest first. */
export function countedNetworks(address: string): readonly CountedNetwork[] {
  const line = countedAddress(address);
  const all = { name: '*', times: TIMES.all };
  if (!line.endsWith('::/64')) return [{ name: line, times: 1 }, all];
  const [a, b, c, d = '0'] = groupsOf(line.slice(0, -3));
  const subnets = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    { name: line, times: 1 },
    { name: `${a}:${b}:${c}:${subnets}::/56`, times: TIMES[56] },
    { name: `${a}:${b}:${c}::/48`, times: TIMES[48] },
    all,
  ];
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}

function ip4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
