// The networks of `ip4` and `ip6` terms (RFC 7208 §5.6), and how many IPv4 addresses a policy authorizes.
import { parseAddress, parsePrefixLength } from '../ranges/ip-address.ts';

/** The first address, and the one after the last. */
export type Range = readonly [start: number, end: number];

interface Network {
  /** Length of the prefix, 0–32 or 0–128. */
  readonly bits: number;
  /** The addresses of an IPv4 network. */
  readonly range: Range;
}

/** Parses `192.0.2.0/24`; without a length it is one address. Null where the text is not a network of the version. */
export function parseNetwork(text: string, version: 4 | 6): Network | null {
  const width = version === 4 ? 32 : 128;
  const slash = text.indexOf('/');
  const words = parseAddress(slash === -1 ? text : text.slice(0, slash));
  const bits = slash === -1 ? width : parsePrefixLength(text.slice(slash + 1), width);
  return words?.length === width / 32 && bits !== null ? { bits, range: rangeOf(words[0] ?? 0, bits) } : null;
}

function rangeOf(address: number, bits: number): Range {
  const size = 2 ** (32 - bits);
  const start = Math.floor(address / size) * size;
  return [start, start + size];
}

/** How many addresses are in any of the ranges. */
export function countAddresses(ranges: readonly Range[]): number {
  let count = 0;
  let counted = 0;
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (end <= counted) continue;
    count += end - Math.max(start, counted);
    counted = end;
  }
  return count;
}
