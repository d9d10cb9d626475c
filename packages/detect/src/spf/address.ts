// IP addresses and networks as SPF writes them (RFC 7208 §5.6, §7.3): parsed strictly, compared by bits.

import { addressText, parsePrefixLength, parseAddress as parseWords } from '../ranges/ip-address.ts';

export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

export interface IpNetwork extends IpAddress {
  /** Length of the prefix, 0–32 or 0–128. */
  readonly bits: number;
}

/** `::ffff:0:0/96`, IPv4-mapped (RFC 4291 §2.5.5.2). */
const MAPPED = 0xffffn;

/** Bits of an address of the version. */
export const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);

/** An address in text form, null where it is none. */
export function parseAddress(text: string): IpAddress | null {
  const words = parseWords(text);
  if (words === null) return null;
  const value = words.reduce((high, word) => (high << 32n) | BigInt(word), 0n);
  return { version: words.length === 1 ? 4 : 6, value };
}

/** §5: an IPv4-mapped address is tested as the IPv4 address within. */
export function unmapped(address: IpAddress): IpAddress {
  return address.version === 6 && address.value >> 32n === MAPPED
    ? { version: 4, value: address.value & 0xffffffffn }
    : address;
}

/** `192.0.2.0/24`; without a length it is one address. Null where it is none of this version. */
export function parseNetwork(text: string, version: 4 | 6): IpNetwork | null {
  const slash = text.indexOf('/');
  const address = parseAddress(slash === -1 ? text : text.slice(0, slash));
  const bits = slash === -1 ? widthOf(version) : parsePrefixLength(text.slice(slash + 1), widthOf(version));
  return address?.version === version && bits !== null ? { ...address, bits } : null;
}

export function isInNetwork({ version, value }: IpAddress, network: IpNetwork): boolean {
  if (version !== network.version) return false;
  const rest = BigInt(widthOf(version) - network.bits);
  return value >> rest === network.value >> rest;
}

/** Dotted quad, or the 32 nibbles of an IPv6 address with dots between (§7.3, `i`). */
export function dotted(address: IpAddress): string {
  if (address.version === 4) return readable(address);
  return [...address.value.toString(16).padStart(32, '0')].join('.').toUpperCase();
}

/** The form for people (§7.3, `c`): RFC 5952 for IPv6. */
export function readable({ version, value }: IpAddress): string {
  const shifts = version === 4 ? [0n] : [96n, 64n, 32n, 0n];
  return addressText(shifts.map((shift) => Number((value >> shift) & 0xffffffffn)));
}

/** The name under which the address has its PTR records (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: IpAddress): string {
  const labels = dotted(address).toLowerCase().split('.').reverse();
  return `${labels.join('.')}.${address.version === 4 ? 'in-addr' : 'ip6'}.arpa`;
}
