// Longest-prefix search over many ranges: nested prefixes are flattened into disjoint segments, found by binary search.
import type { Cidr, Words } from './ip-address.ts';

export interface TableEntry extends Cidr {
  /** The value of the prefix, below 2^23. */
  readonly label: number;
  /** Of entries with the same prefix the one with the lowest rank counts. */
  readonly rank: number;
}

interface TableHit {
  readonly label: number;
  /** Length of the prefix that contains the address. */
  readonly length: number;
}

/** A prefix that is open while the sweep passes over the address space. */
interface Open {
  readonly last: Words;
  readonly value: number;
}

/** Lengths go to 128, so that a value is `(label + 1) << 8 | length`; 0 is an address in no range. */
const LENGTH_BITS = 8;
const WORD_BITS = 32;

/**
 * Prefixes of one address family. Two words per segment for IPv4, five for IPv6; at most two segments per prefix, plus
 * one.
 */
export class PrefixTable {
  readonly #width: number;
  /** First addresses of the segments, ascending, `width` words each. */
  readonly #starts: Uint32Array;
  readonly #values: Uint32Array;

  /** `width`: number of words in an address. */
  constructor(entries: readonly TableEntry[], width: 1 | 4) {
    const sorted = entries.toSorted(
      (a, b) => compareWords(a.words, b.words) || a.length - b.length || a.rank - b.rank || a.label - b.label,
    );
    const starts = new Uint32Array((2 * sorted.length + 1) * width);
    const values = new Uint32Array(2 * sorted.length + 1);
    let count = 0;
    const begin = (words: Words, value: number) => {
      if (count > 0 && compareWords(words, starts.subarray((count - 1) * width, count * width)) === 0) count -= 1;
      if ((count > 0 ? values[count - 1] : 0) === value) return;
      starts.set(words, count * width);
      values[count] = value;
      count += 1;
    };
    const open: Open[] = [];
    const closeBefore = (words: Words | null) => {
      for (let top = open.at(-1); top && (words === null || compareWords(top.last, words) < 0); top = open.at(-1)) {
        open.pop();
        const next = wordsAfter(top.last);
        if (next) begin(next, open.at(-1)?.value ?? 0);
      }
    };
    let previous: TableEntry | undefined;
    for (const entry of sorted) {
      const isRepeated = previous?.length === entry.length && compareWords(previous.words, entry.words) === 0;
      previous = entry;
      if (isRepeated) continue;
      closeBefore(entry.words);
      const value = (((entry.label + 1) << LENGTH_BITS) | entry.length) >>> 0;
      begin(entry.words, value);
      open.push({ last: lastOf(entry), value });
    }
    closeBefore(null);
    this.#width = width;
    this.#starts = starts.slice(0, count * width);
    this.#values = values.slice(0, count);
  }

  get sizeBytes(): number {
    return this.#starts.byteLength + this.#values.byteLength;
  }

  /** Every segment as words, for a digest: the same ranges give the same words in any order. */
  get words(): readonly Uint32Array[] {
    return [this.#starts, this.#values];
  }

  /** The longest prefix that contains the address, or undefined. */
  find(address: Words): TableHit | undefined {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isAfter(middle, address)) high = middle;
      else low = middle + 1;
    }
    const value = low === 0 ? 0 : (this.#values[low - 1] ?? 0);
    return value === 0 ? undefined : { label: (value >>> LENGTH_BITS) - 1, length: value & 0xff };
  }

  #isAfter(index: number, address: Words): boolean {
    const at = index * this.#width;
    for (let i = 0; i < this.#width; i++) {
      const difference = (this.#starts[at + i] ?? 0) - (address[i] ?? 0);
      if (difference !== 0) return difference > 0;
    }
    return false;
  }
}

function compareWords(a: ArrayLike<number>, b: ArrayLike<number>): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function lastOf({ words, length }: Cidr): Words {
  return words.map((word, i) => {
    const free = WORD_BITS - Math.min(Math.max(length - i * WORD_BITS, 0), WORD_BITS);
    return free === 0 ? word : (word | (free === WORD_BITS ? -1 : (1 << free) - 1)) >>> 0;
  });
}

/** The next address, or null after the last one. */
function wordsAfter(words: Words): Words | null {
  const next = [...words];
  for (let i = next.length - 1; i >= 0; i--) {
    const word = next[i] ?? 0;
    next[i] = (word + 1) >>> 0;
    if (word !== 0xffffffff) return next;
  }
  return null;
}
