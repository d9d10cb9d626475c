// IP addresses and prefixes as numbers: one 32-bit word for IPv4, four for IPv6, the most significant first.

export type Words = readonly number[];

export interface Cidr {
  readonly words: Words;
  /** Prefix length: at most 32 for IPv4, 128 for IPv6. */
  readonly length: number;
}

const WORD_BITS = 32;
/** Longest text of an address: eight groups, or six and a dotted quad. */
const MAX_ADDRESS_LENGTH = 45;
const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;

/**
 * An address as words, or null if the text is not an address (RFC 4291 §2.2; no zone, no leading zeros in IPv4).
 */
export function parseAddress(text: string): Words | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  if (text.includes(':')) return parseIpv6(text);
  const word = parseIpv4(text);
  return word === -1 ? null : [word];
}

/** Parses `address/length` or an address; returns the end of an error sentence for invalid text. */
export function parseCidr(text: string): Cidr | string {
  const slash = text.indexOf('/');
  const words = parseAddress(slash === -1 ? text : text.slice(0, slash));
  if (words === null) return 'is not an address or address/length';
  const bits = words.length * WORD_BITS;
  if (slash === -1) return { words, length: bits };
  const length = parsePrefixLength(text.slice(slash + 1), bits);
  if (length === null) return `has no length from 0 to ${bits}`;
  if (words.some((word, i) => (word & maskOf(length, i)) >>> 0 !== word)) return 'has bits set outside its length';
  return { words, length };
}

/** Null if it is not a number, has a leading zero or exceeds the bits of the address. */
export function parsePrefixLength(text: string, bits: number): number | null {
  const length = PREFIX_LENGTH.test(text) ? Number(text) : Number.NaN;
  return length <= bits ? length : null;
}

/** Dotted quad, or RFC 5952. */
export function addressText(words: Words): string {
  return words.length === 1 ? ipv4Text(words[0] ?? 0) : ipv6Text(words);
}

/** The prefix of this length that contains an address, as text: `192.0.2.0/24`, `2001:db8::/32` (RFC 5952). */
export function prefixText(words: Words, length: number): string {
  const masked = words.map((word, i) => (word & maskOf(length, i)) >>> 0);
  return `${addressText(masked)}/${length}`;
}

/** The mask of the word with this index under a prefix length; `>>> 0` after use. */
function maskOf(length: number, index: number): number {
  const bits = Math.min(Math.max(length - index * WORD_BITS, 0), WORD_BITS);
  return bits === 0 ? 0 : -1 << (WORD_BITS - bits);
}

/** -1 if the text is not a dotted quad. */
function parseIpv4(text: string): number {
  let word = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      if (octet === -1 || ++dots > 3) return -1;
      word = word * 256 + octet;
      octet = -1;
      continue;
    }
    // 0x30 to 0x39. Some parsers read a leading zero as octal, so it is refused here.
    if (code < 48 || code > 57 || octet === 0) return -1;
    octet = (octet === -1 ? 0 : octet * 10) + (code - 48);
    if (octet > 255) return -1;
  }
  return dots === 3 && octet !== -1 ? word * 256 + octet : -1;
}

/** One pass over the characters, because this dominates the cost of a look-up. */
function parseIpv6(text: string): Words | null {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  /** Number of groups before `::`. */
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) [gap, at] = [0, 2];
  while (at < text.length) {
    const start = at;
    let group = 0;
    for (let digit = hexDigit(text, at); digit !== -1; digit = hexDigit(text, ++at)) group = group * 16 + digit;
    if (text[at] === '.') {
      const quad = parseIpv4(text.slice(start));
      if (quad === -1 || count > 6) return null;
      groups[count++] = quad >>> 16;
      groups[count++] = quad & 0xffff;
      at = text.length;
      break;
    }
    if (at === start || at - start > 4 || count > 7) return null;
    groups[count++] = group;
    if (at === text.length) break;
    if (text[at++] !== ':' || at === text.length) return null;
    if (text[at] === ':') {
      if (gap !== -1) return null;
      gap = count;
      at += 1;
    }
  }
  if (gap === -1 ? count !== 8 : count > 7) return null;
  // The groups after `::` move to the end.
  for (let from = count - 1, to = 7; gap !== -1 && from >= gap; from--, to--) {
    groups[to] = groups[from] ?? 0;
    groups[from] = 0;
  }
  const wordAt = (i: number) => (groups[i] ?? 0) * 0x10000 + (groups[i + 1] ?? 0);
  return [wordAt(0), wordAt(2), wordAt(4), wordAt(6)];
}

/** -1 if there is no hex digit at the position. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function ipv4Text(word: number): string {
  return [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255].join('.');
}

/** The longest run of zero groups, the first of equals, becomes `::`; one group alone does not. */
function ipv6Text(words: Words): string {
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  let start = -1;
  let length = 1;
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (groups[end] === 0) end += 1;
    if (end - i > length) [start, length] = [i, end - i];
    i = Math.max(i, end);
  }
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  return start === -1 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}
