// The network behind an address, from Team Cymru's IP-to-ASN zones (https://www.team-cymru.com/ip-asn-mapping).
import type { AddressEvidence } from '@strata/detect';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Resolver } from '../dns/resolver.ts';

const ZONES = { v4: 'origin.asn.cymru.com', v6: 'origin6.asn.cymru.com', names: 'asn.cymru.com' };

type Network = Omit<AddressEvidence, 'use' | 'host'>;

/** The longest prefixes that networks announce to each other (RFC 7454 §6.1.3): the addresses in one have the same origin. */
const MAX_BITS = { ipv4: 24, ipv6: 48 } as const;
const KNOWN_PREFIXES = 50_000;
/** As the resolver keeps answers. */
const KNOWN_MS = 3_600_000;

/** Looks up the origin AS of addresses; those of a prefix that is known cost no query. */
export class NetworkFinder {
  readonly #resolver: Resolver;
  readonly #known = new LRUCache<string, Network>({ max: KNOWN_PREFIXES, ttl: KNOWN_MS });

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /** Failures are statuses; rejects only if `signal` aborts. */
  async find(address: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Network> {
    const parsed = ipaddr.parse(address);
    const maxBits = MAX_BITS[parsed.kind()];
    const key = parsed
      .toByteArray()
      .slice(0, maxBits / 8)
      .join('.');
    const known = this.#known.get(key);
    if (known !== undefined) return { ...known, address };
    const unknown = { address, asn: null, asName: null, prefix: null };
    const origin = await this.#resolver.query(originName(parsed), 'TXT', { signal });
    if (origin.status !== 'found') return { ...unknown, status: origin.status };
    const best = origin.records
      .map(parseOrigin)
      .filter((each) => each !== undefined)
      .sort((a, b) => b.bits - a.bits)[0];
    if (!best) return { ...unknown, status: 'malformed' };
    const named = await this.#resolver.query(`AS${best.asn}.${ZONES.names}`, 'TXT', { signal });
    const asName = parseName(named.records[0]);
    const { asn, prefix, country } = best;
    const network: Network = { address, status: 'found', asn, asName, prefix, country };
    if (best.bits <= maxBits && asName !== null) this.#known.set(key, network);
    return network;
  }
}

/** `4.3.2.1.origin…` for 1.2.3.4, nibbles for IPv6. */
function originName(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const bytes = address.toByteArray();
  if (address.kind() === 'ipv4') return `${bytes.reverse().join('.')}.${ZONES.v4}`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).map((nibble) => nibble.toString(16));
  return `${nibbles.reverse().join('.')}.${ZONES.v6}`;
}

/** ISO 3166 reserves it for users; here it means that the registry names none. */
const NO_COUNTRY = 'ZZ';

/** `15169 | 8.8.8.0/24 | US | arin | 1992-12-01`; several origins are separated by blanks, and the first is used. */
function parseOrigin(text: string) {
  const [asns = '', prefix = '', code = ''] = text.split('|').map((part) => part.trim());
  const asn = Number(asns.split(/\s+/)[0]);
  const bits = Number(prefix.split('/')[1]);
  if (!Number.isInteger(asn) || asn <= 0 || asn > 0xffff_ffff || !Number.isInteger(bits) || prefix.length > 49)
    return undefined;
  return { asn, prefix, bits, country: /^[A-Z]{2}$/.test(code) && code !== NO_COUNTRY ? code : null };
}

/** `15169 | US | arin | 2000-03-30 | GOOGLE, US` */
function parseName(text: string | undefined): string | null {
  const name = text?.split('|')[4]?.trim();
  return name ? name.slice(0, 128) : null;
}
