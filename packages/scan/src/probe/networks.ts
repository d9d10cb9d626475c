// The addresses that matter of a domain, and the networks that announce them.
import { type AddressEvidence, type DnsEvidence, isMeasured, isWithin, registrableDomain } from '@strata/detect';
import type { Ask } from '../dns/ask.ts';
import { addressesOf } from '../web/checked-address.ts';

export type NetworkOf = (address: string) => Promise<Omit<AddressEvidence, 'use' | 'host'>>;

/** Name servers whose addresses are asked for: two are one more than it takes to see whose they are. */
const MAX_NAME_SERVERS = 2;

/** Networks of the site, of `www`, of the most preferred exchange and of vanity name servers; one address of each. */
export async function askNetworks(
  domain: string,
  dns: DnsEvidence,
  { ask, networkOf }: { readonly ask: Ask; readonly networkOf: NetworkOf },
): Promise<AddressEvidence[]> {
  const place = async (
    use: AddressEvidence['use'],
    host: string,
    address: string | undefined,
  ): Promise<AddressEvidence[]> => (address === undefined ? [] : [{ use, host, ...(await networkOf(address)) }]);
  /** A host whose address cannot be had may stand in any network, which is told too. */
  const placeHost = async (use: 'mail' | 'ns', host: string): Promise<AddressEvidence[]> => {
    const { status, records } = await addressesOf(ask, host);
    if (records.length > 0 || isMeasured(status)) return place(use, host, records[0]);
    return [{ use, host, address: '', status, asn: null, asName: null, prefix: null }];
  };
  const exchange = dns.mx.records[0]?.exchange;
  const found = await Promise.all([
    place('web', domain, dns.a.records[0] ?? dns.aaaa.records[0]),
    place('www', `www.${domain}`, dns.www.records[0]),
    ...(exchange ? [placeHost('mail', exchange)] : []),
    ...vanityServers(domain, dns.ns.records).map((host) => placeHost('ns', host)),
  ]);
  return found.flat();
}

/**
 * Name servers whose names do not tell whose they are: those of the domain itself, then those that are no part of the
 * vendor that most of them belong to.
 */
export function vanityServers(domain: string, servers: readonly string[]): string[] {
  const own = servers.filter((host) => isWithin(host, domain));
  const others = servers.filter((host) => !isWithin(host, domain));
  const counts = new Map<string, number>();
  for (const host of others) counts.set(vendorOf(host), (counts.get(vendorOf(host)) ?? 0) + 1);
  const majority = [...counts].find(([, count]) => count > others.length / 2)?.[0];
  const strangers = majority === undefined ? [] : others.filter((host) => vendorOf(host) !== majority);
  return [...own, ...strangers].slice(0, MAX_NAME_SERVERS);
}

function vendorOf(host: string): string {
  return registrableDomain(host) ?? host;
}
