// The inner loops of sets: over sorted numbers, and over bitmaps of 32-bit words.

/** An array is searched for each member of the other side if that is smaller by at least this factor. */
const GALLOP = 16;

/** First index in the sorted beginning of the array whose number is not below `member`. */
export function lowerBound(
  sorted: Uint32Array | Uint16Array | Uint8Array,
  size: number,
  member: number,
  from = 0,
): number {
  let low = from;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < member) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sorted numbers: those of an array from a position to another one, exclusive. */
type Run = readonly [sorted: Uint32Array | Uint16Array | Uint8Array, from: number, to: number];

/** `few` is usually the smaller side. */
export function eachCommon([few, from, to]: Run, [many, start, end]: Run, visit: (number: number) => void): void {
  let at = start;
  if ((to - from) * GALLOP < end - start) {
    for (let i = from; i < to; i += 1) {
      const number = few[i] as number;
      at = lowerBound(many, end, number, at);
      if (at < end && many[at] === number) visit(number);
    }
    return;
  }
  for (let i = from; i < to && at < end; ) {
    const a = few[i] as number;
    const b = many[at] as number;
    if (a === b) visit(a);
    if (a <= b) i += 1;
    if (b <= a) at += 1;
  }
}

export function countBoth(a: Uint32Array, b: Uint32Array): number {
  let count = 0;
  for (let i = Math.min(a.length, b.length) - 1; i >= 0; i -= 1) count += popcount((a[i] as number) & (b[i] as number));
  return count;
}

export function countBits(bits: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < bits.length; i += 1) count += popcount(bits[i] as number);
  return count;
}

/** Keeps the members that are also in another bitmap. */
export function keepBits(bits: Uint32Array, other: Uint32Array): void {
  const shared = Math.min(bits.length, other.length);
  for (let i = 0; i < shared; i += 1) bits[i] = (bits[i] as number) & (other[i] as number);
  bits.fill(0, shared);
}

export function removeBits(bits: Uint32Array, other: Uint32Array): void {
  const shared = Math.min(bits.length, other.length);
  for (let i = 0; i < shared; i += 1) bits[i] = (bits[i] as number) & ~(other[i] as number);
}

export function clearBits(bits: Uint32Array, members: Uint32Array): void {
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i] as number;
    if (member >>> 5 < bits.length) bits[member >>> 5] = (bits[member >>> 5] as number) & ~(1 << (member & 31));
  }
}

/** Adds the members of another bitmap, which is not longer. */
export function addBits(bits: Uint32Array, other: Uint32Array): void {
  for (let i = 0; i < other.length; i += 1) bits[i] = (bits[i] as number) | (other[i] as number);
}

/** Bits set in a 32-bit word (Warren, Hacker's Delight, 5-1). */
function popcount(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
