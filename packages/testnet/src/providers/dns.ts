// DNS providers: the name servers and the SOA of a customer's zone. And domain sellers, whose name servers mark a domain as parked.
import type { NetworkRef } from '../dns/networks.ts';
import type { Mint } from '../random.ts';
import { readTemplates } from './template.ts';

export interface DnsTemplate {
  readonly id: string;
  readonly weight: number;
  /** Suffixes of the provider's name server hosts. */
  readonly zones: readonly string[];
  readonly ns: (mint: Mint) => readonly string[];
  /** SOA RNAME, which identifies the provider even if the NS names are the customer's own. */
  readonly rname: (mint: Mint) => string;
  /** Supports vanity name servers. */
  readonly hasVanity?: true;
  readonly network?: NetworkRef;
  /** The network contains no customers' servers: an address in it identifies the provider. */
  readonly isOwnNetwork?: true;
}

export interface ParkingTemplate extends Omit<DnsTemplate, 'network'> {
  readonly network: string;
  /** On the page of a name for sale, and where a redirect of it leads. */
  readonly asset: string;
  readonly offer: (mint: Mint) => string;
}

export const dnsProviders: readonly DnsTemplate[] = readTemplates<DnsTemplate>('dns', ['ns', 'rname']).map((row) => ({
  ...row,
  zones: row.zones.flatMap(expanded),
}));

export const parkingProviders: readonly ParkingTemplate[] = readTemplates('parking', ['ns', 'rname', 'offer']);

/** `awsdns-0..63.com` is `awsdns-00.com` to `awsdns-63.com`. */
function expanded(zones: string): string[] {
  const [, start, last, end] = /^(.+-)0\.\.(\d+)(\..+)$/.exec(zones) ?? [];
  if (last === undefined) return [zones];
  return Array.from({ length: Number(last) + 1 }, (_, n) => `${start}${String(n).padStart(2, '0')}${end}`);
}
