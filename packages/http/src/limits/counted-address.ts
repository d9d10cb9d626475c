// Groups addresses for limits: a client can have many keys and many IPv6 addresses, but few networks.
import { isIP } from 'node:net';
import type { LimitedName } from '@strata/limits';

/** Clients that are counted together; their common limit is `times` that of one address. */
export type CountedNetwork = LimitedName;

/**
 * Providers assign a /64, a /56 or a /48 to a customer (RFC 6177). A /56 contains 256 /64s and a /48 contains 65,536,
 * so a customer with a larger network gets more than one /64 does, but far less than all of its /64s together.
 */
const TIMES = { 56: 4, 48: 16, service: 1_000 } as const;

/**
 * IPv4 addresses unchanged; IPv6 addresses cut to their first 64 bits, because one line has all the rest.
 * `::ffff:a.b.c.d`, from a dual-stack socket, is the IPv4 address. Invalid addresses, which a misconfigured proxy may
 * send, all count as `unknown`. The function is idempotent.
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

/** The counted address and, for IPv6, its /56 and /48; narrowest first. */
export function networksOf(address: string): readonly CountedNetwork[] {
  const narrowest = countedAddress(address);
  if (!narrowest.endsWith('::/64')) return [{ name: narrowest, times: 1 }];
  const [a, b, c, d = '0'] = groupsOf(narrowest.slice(0, -3));
  const subnet = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    { name: narrowest, times: 1 },
    { name: `${a}:${b}:${c}:${subnet}::/56`, times: TIMES[56] },
    { name: `${a}:${b}:${c}::/48`, times: TIMES[48] },
  ];
}

/** The same, followed by all clients of the service. */
export const countedNetworks = (address: string): readonly CountedNetwork[] => [
  ...networksOf(address),
  { name: '*', times: TIMES.service },
];

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
