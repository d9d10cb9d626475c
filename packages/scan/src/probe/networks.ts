// The relevant addresses of a domain, and the networks that announce them.
import { type AddressEvidence, type DnsEvidence, isMeasured, isWithin, registrableDomain } from '@strata/detect';
import type { Ask } from '../dns/ask.ts';
import { addressesOf } from '../web/checked-address.ts';

export type NetworkOf = (address: string) => Promise<Omit<AddressEvidence, 'use' | 'host'>>;

/** Name servers whose addresses are looked up: one usually identifies their operator, two confirm it. */
const MAX_NAME_SERVERS = 2;

/** Networks of the site, of `www`, of the most preferred exchange and of vanity name servers; one address each. */
export async function askNetworks(
  domain: string,
  dns: DnsEvidence,
  { ask, networkOf }: { readonly ask: Ask; readonly networkOf: NetworkOf },
): Promise<AddressEvidence[]> {
  const describe = async (
    use: AddressEvidence['use'],
    host: string,
    address: string | undefined,
  ): Promise<AddressEvidence[]> => (address === undefined ? [] : [{ use, host, ...(await networkOf(address)) }]);
  /** Records a host whose address lookup failed: its network is unknown. */
  const resolveHost = async (use: 'mail' | 'ns', host: string): Promise<AddressEvidence[]> => {
    const { status, records } = await addressesOf(ask, host);
    if (records.length > 0 || isMeasured(status)) return describe(use, host, records[0]);
    return [{ use, host, address: '', status, asn: null, asName: null, prefix: null }];
  };
  const exchange = dns.mx.records[0]?.exchange;
  const found = await Promise.all([
    describe('web', domain, dns.a.records[0] ?? dns.aaaa.records[0]),
    describe('www', `www.${domain}`, dns.www.records[0]),
    ...(exchange ? [resolveHost('mail', exchange)] : []),
    ...vanityServers(domain, dns.ns.records).map((host) => resolveHost('ns', host)),
  ]);
  return found.flat();
}

/**
 * Name servers whose names do not identify their operator: those within the domain, then those outside the domain of the majority
 * vendor.
 */
export function vanityServers(domain: string, servers: readonly string[]): string[] {
  const own = servers.filter((host) => isWithin(host, domain));
  const external = servers.filter((host) => !isWithin(host, domain));
  const counts = new Map<string, number>();
  for (const host of external) counts.set(vendorOf(host), (counts.get(vendorOf(host)) ?? 0) + 1);
  const majority = [...counts].find(([, count]) => count > external.length / 2)?.[0];
  const minority = majority === undefined ? [] : external.filter((host) => vendorOf(host) !== majority);
  return [...own, ...minority].slice(0, MAX_NAME_SERVERS);
}

function vendorOf(host: string): string {
  return registrableDomain(host) ?? host;
}
