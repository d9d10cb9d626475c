// Groups addresses for limits: a client can have many keys and many IPv6 addresses, but few networks.
import { isIP } from 'node:net';
import type { LimitedName } from '@strata/limits';
import ipaddr from 'ipaddr.js';

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
  if (isIP(bare) === 0) return 'unknown';
  const ip = ipaddr.process(bare);
  return ip instanceof ipaddr.IPv4 ? ip.toString() : `${textOf(ip.parts.slice(0, 4))}::/64`;
}

/** The counted address and, for IPv6, its /56 and /48; narrowest first. */
export function networksOf(address: string): readonly CountedNetwork[] {
  const narrowest = countedAddress(address);
  if (!narrowest.endsWith('::/64')) return [{ name: narrowest, times: 1 }];
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(narrowest.slice(0, -3)).parts;
  return [
    { name: narrowest, times: 1 },
    { name: `${textOf([a, b, c, d & 0xff00])}::/56`, times: TIMES[56] },
    { name: `${textOf([a, b, c])}::/48`, times: TIMES[48] },
  ];
}

/** The same, followed by all clients of the service. */
export const countedNetworks = (address: string): readonly CountedNetwork[] => [
  ...networksOf(address),
  { name: '*', times: TIMES.service },
];

const textOf = (groups: readonly number[]) => groups.map((group) => group.toString(16)).join(':');
