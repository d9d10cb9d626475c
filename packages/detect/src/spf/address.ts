// IP addresses and networks as SPF writes them (RFC 7208 §5.6, §7.3): parsed strictly, compared by bits.

export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

export interface IpNetwork extends IpAddress {
  /** Length of the prefix, 0–32 or 0–128. */
  readonly bits: number;
}

const HEXTET = /^[0-9a-f]{1,4}$/i;
/** §12: no leading zeros. */
const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;
/** `::ffff:0:0/96`, IPv4-mapped (RFC 4291 §2.5.5.2). */
const MAPPED = 0xffffn;

/** Bits of an address of the version. */
export const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);

/** An address in text form, null where it is none. */
export function parseAddress(text: string): IpAddress | null {
  if (!text.includes(':')) {
    const value = parseIpv4(text);
    return value === null ? null : { version: 4, value };
  }
  const value = parseIpv6(text);
  return value === null ? null : { version: 6, value };
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
  const bits = slash === -1 ? widthOf(version) : parsePrefixLength(text.slice(slash + 1), version);
  return address?.version === version && bits !== null ? { ...address, bits } : null;
}

/** Null where it is no number, has a leading zero or exceeds the address. */
export function parsePrefixLength(text: string, version: 4 | 6): number | null {
  const bits = PREFIX_LENGTH.test(text) ? Number(text) : Number.NaN;
  return bits <= widthOf(version) ? bits : null;
}

export function isInNetwork({ version, value }: IpAddress, network: IpNetwork): boolean {
  if (version !== network.version) return false;
  const rest = BigInt(widthOf(version) - network.bits);
  return value >> rest === network.value >> rest;
}

/** Dotted quad, or the 32 nibbles of an IPv6 address with dots between (§7.3, `i`). */
export function dotted({ version, value }: IpAddress): string {
  return version === 4 ? formatIpv4(value) : [...value.toString(16).padStart(32, '0')].join('.').toUpperCase();
}

/** The form for people (§7.3, `c`): RFC 5952 for IPv6. */
export function readable({ version, value }: IpAddress): string {
  if (version === 4) return formatIpv4(value);
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const [start, length] = longestZeros(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

/** The name under which the address has its PTR records (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: IpAddress): string {
  const labels = dotted(address).toLowerCase().split('.').reverse();
  return `${labels.join('.')}.${address.version === 4 ? 'in-addr' : 'ip6'}.arpa`;
}

function longestZeros(groups: readonly string[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (groups[end] === '0') end++;
    if (end - i > best[1]) best = [i, end - i];
    i = Math.max(i, end - 1);
  }
  return best;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

/** Four numbers below 256 without leading zeros. By characters: policies have dozens of them. */
function parseIpv4(text: string): bigint | null {
  const value = ipv4Value(text);
  return value === null ? null : BigInt(value);
}

function ipv4Value(text: string): number | null {
  if (text.length > 15) return null;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit === -2) {
      if (octet < 0 || ++dots > 3) return null;
      value = value * 256 + octet;
      octet = -1;
    } else if (digit < 0 || digit > 9 || octet === 0) {
      return null;
    } else {
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return null;
    }
  }
  return octet < 0 || dots !== 3 ? null : value * 256 + octet;
}

/** RFC 4291 §2.2, all three forms. */
function parseIpv6(text: string): bigint | null {
  if (text.length > 45) return null;
  const gap = text.indexOf('::');
  const head = parseGroups(gap === -1 ? text : text.slice(0, gap));
  const tail = gap === -1 ? [] : parseGroups(text.slice(gap + 2));
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (gap === -1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<string>(missing).fill('0000'), ...tail];
  return BigInt(`0x${groups.join('')}`);
}

/** Groups of four digits; the last one may be a dotted quad, which is two. */
function parseGroups(text: string): string[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: string[] = [];
  for (const [i, part] of parts.entries()) {
    if (HEXTET.test(part)) {
      groups.push(part.padStart(4, '0'));
      continue;
    }
    const quad = i === parts.length - 1 ? ipv4Value(part) : null;
    if (quad === null) return null;
    const hex = quad.toString(16).padStart(8, '0');
    groups.push(hex.slice(0, 4), hex.slice(4));
  }
  return groups;
}
