// The network behind an address, from Team Cymru's IP-to-ASN zones (https://www.team-cymru.com/ip-asn-mapping).
import type { AddressEvidence } from '@strata/detect';
import ipaddr from 'ipaddr.js';
import type { Resolver } from '../dns/resolver.ts';

export interface AsnZones {
  readonly v4: string;
  readonly v6: string;
  readonly names: string;
}

export const CYMRU: AsnZones = { v4: 'origin.asn.cymru.com', v6: 'origin6.asn.cymru.com', names: 'asn.cymru.com' };

/** Looks up the origin AS of an address. The resolver caches the answers, so addresses of one network cost one query. */
export async function findNetwork(
  resolver: Resolver,
  address: string,
  zones: AsnZones,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Omit<AddressEvidence, 'use' | 'host'>> {
  const unknown = { address, asn: null, asName: null, prefix: null };
  const origin = await resolver.query(originName(address, zones), 'TXT', { signal });
  if (origin.status !== 'found') return { ...unknown, status: origin.status };
  const best = origin.records
    .map(parseOrigin)
    .filter((each) => each !== undefined)
    .sort((a, b) => b.bits - a.bits)[0];
  if (!best) return { ...unknown, status: 'malformed' };
  const named = await resolver.query(`AS${best.asn}.${zones.names}`, 'TXT', { signal });
  return { address, status: 'found', asn: best.asn, asName: parseName(named.records[0]), prefix: best.prefix };
}

/** `4.3.2.1.origin…` for 1.2.3.4, nibbles for IPv6. */
function originName(address: string, zones: AsnZones): string {
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === 'ipv4') return `${address.split('.').reverse().join('.')}.${zones.v4}`;
  const nibbles = parsed
    .toByteArray()
    .flatMap((byte) => [byte >> 4, byte & 15])
    .map((nibble) => nibble.toString(16));
  return `${nibbles.reverse().join('.')}.${zones.v6}`;
}

/** `15169 | 8.8.8.0/24 | US | arin | 1992-12-01`; several origins are separated by blanks, and the first is used. */
function parseOrigin(text: string): { asn: number; prefix: string; bits: number } | undefined {
  const [asns = '', prefix = ''] = text.split('|').map((part) => part.trim());
  const asn = Number(asns.split(/\s+/)[0]);
  const bits = Number(prefix.split('/')[1]);
  if (!Number.isInteger(asn) || asn <= 0 || asn > 0xffff_ffff || !Number.isInteger(bits) || prefix.length > 49)
    return undefined;
  return { asn, prefix, bits };
}

/** `15169 | US | arin | 2000-03-30 | GOOGLE, US` */
function parseName(text: string | undefined): string | null {
  const name = text?.split('|')[4]?.trim();
  return name ? name.slice(0, 128) : null;
}
