// Ranges of IPv4 addresses, to count how many a policy lets send.
import type { IpNetwork } from './address.ts';

/** First address, and the one after the last. */
export type Range = readonly [start: number, end: number];

/** The addresses of an IPv4 network. */
export function rangeOf({ value, bits }: IpNetwork): Range {
  const size = 2 ** (32 - bits);
  const start = Math.floor(Number(value) / size) * size;
  return [start, start + size];
}

/** How many addresses are in any of the ranges. */
export function countAddresses(ranges: readonly Range[]): number {
  const isSorted = ranges.every(([start], i) => i === 0 || start >= (ranges[i - 1] as Range)[0]);
  let count = 0;
  let counted = 0;
  for (const [start, end] of isSorted ? ranges : ranges.toSorted(([a], [b]) => a - b)) {
    if (end <= counted) continue;
    count += end - Math.max(start, counted);
    counted = end;
  }
  return count;
}
