// Which network announces which addresses: real AS numbers with some of their public prefixes, and addresses chosen
// from them.
import { readRows } from '../data.ts';
import { hashOf } from '../random.ts';

export interface Network {
  readonly asn: number;
  /** As in the registry: handle, country. */
  readonly name: string;
  readonly country: string;
  readonly registry: 'arin' | 'ripencc' | 'apnic' | 'lacnic' | 'afrinic';
  readonly allocated: string;
  readonly v4: readonly string[];
  readonly v6?: string;
}

/** One row per network; several may share an AS number (Amazon's CDN and its servers). */
const rows = readRows<Network & { readonly id: string }>('networks').map(
  ({ id, ...network }) => [id, network] as const,
);
const networks: ReadonlyMap<string, Network> = new Map(rows);

/** The id of a network of the table, or a custom one. */
export type NetworkRef = string | Network;

/** Throws RangeError for an unknown id. */
export function networkOf(id: NetworkRef): Network {
  if (typeof id !== 'string') return id;
  const network = networks.get(id);
  if (!network) throw new RangeError(`network ${id}`);
  return network;
}

/**
 * Last octets with a meaning: `dial` maps such an address to a listener with that behaviour, so that no table of
 * addresses is needed. No other address ends with them.
 */
export const SPECIAL_OCTETS = { refused: 251, reset: 252, oldTls: 253 } as const;
type SpecialAddress = keyof typeof SPECIAL_OCTETS;

/** A host's IPv4 address in the network; the same key has the same address. */
export function addressIn(id: NetworkRef, key: string, special?: SpecialAddress): string {
  const { v4 } = networkOf(id);
  const prefix = v4[hashOf('prefix', key) % v4.length] ?? '';
  const { base, bits } = parseV4Prefix(prefix);
  const offset = bits === 32 ? 0 : hashOf('host', key) % 2 ** (32 - bits);
  const low = special ? SPECIAL_OCTETS[special] : 2 + ((offset & 0xff) % 240);
  return formatV4(((base + offset) & 0xffffff00) | low);
}

/** A host's IPv6 address in the network, or null if our table has none for it. */
export function addressV6In(id: NetworkRef, key: string): string | null {
  const { v6 } = networkOf(id);
  if (!v6) return null;
  const head = v6.slice(0, v6.indexOf('::')).split(':');
  while (head.length < 2) head.push('0');
  const group = (purpose: string) => (hashOf(purpose, key) & 0xffff || 1).toString(16);
  return `${head.join(':')}:${group('a')}::${group('b')}:${group('c')}`;
}

export function parseV4Prefix(prefix: string): { base: number; bits: number } {
  const [address = '', bits = '32'] = prefix.split('/');
  return { base: parseV4(address), bits: Number(bits) };
}

export function parseV4(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) >>> 0;
}

function formatV4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}

export const allNetworks: readonly Network[] = [...networks.values()];
