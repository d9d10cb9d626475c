// Addresses of the simulated name servers: separate loopback addresses, so that referrals can be followed.

import { whiteLabels } from '../providers/extras.ts';
import type { Templates } from '../providers/index.ts';
import { hashOf, mintFor } from '../random.ts';
import { type Network, networkOf } from './networks.ts';

/** Loopback address of the server of self-hosted zones: A records and glue agree, and no packet leaves the machine. */
export const SELF_HOSTED_SERVER = '127.53.3.1';
/** The long tail's providers share a few servers, which distinguish them by the question. */
const SHARED_SERVERS = 8;

export interface ServerAddresses {
  /** Address of a DNS provider's name server host; the same for all hosts with related suffixes. */
  of(host: string): string | undefined;
  all(): readonly string[];
  /** The network that announces the address. */
  networkAt(address: string): Network | undefined;
}

export function serverAddressesOf(templates: Templates, seed: string): ServerAddresses {
  const byFamily = new Map<string, string>();
  const networks = new Map<string, Network>();
  const families = new Map<string, string>();
  // Route 53 alone has 256 suffixes.
  for (const { zones } of [...templates.dns.rows, ...templates.parking.rows])
    for (const zone of zones) families.set(zone, zone.startsWith('awsdns-') ? 'awsdns' : zone);
  for (const { zones } of templates.dns.tail)
    for (const zone of zones) families.set(zone, families.get(zone) ?? `shared-${hashOf(zone) % SHARED_SERVERS}`);
  for (const { zone, dns } of whiteLabels) families.set(zone, templates.dns.of(dns).zones[0] ?? zone);

  const of = (host: string): string | undefined => {
    for (let suffix = host; suffix.includes('.'); suffix = suffix.slice(suffix.indexOf('.') + 1)) {
      const family = families.get(suffix);
      if (family !== undefined) return byFamily.get(family);
    }
    return undefined;
  };
  for (const family of new Set(families.values())) byFamily.set(family, `127.53.2.${byFamily.size + 1}`);
  for (const { ns, network } of templates.dns.rows) {
    if (network === undefined) continue;
    for (const host of ns(mintFor(seed, 'any.example'))) networks.set(of(host) ?? '', networkOf(network));
  }
  return { of, all: () => [...byFamily.values()], networkAt: (address) => networks.get(address) };
}
