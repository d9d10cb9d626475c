// Binary search.

/** The first index from `low` on for which `isBefore` is false, at most `high`; it must be true for all indexes before that one. */
export function partitionPoint(low: number, high: number, isBefore: (index: number) => boolean): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}
