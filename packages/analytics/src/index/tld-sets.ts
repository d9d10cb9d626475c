// For every top-level domain the set of domains under it.
import type { NameTable } from '../columns/name-table.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import { union } from '../sets/set-operations.ts';

const DOT = 46;
type Sets = Map<string, DomainSet>;

export class TldSets {
  readonly #sets: Map<string, DomainSet>;

  constructor(sets: Iterable<readonly [string, DomainSet]> = []) {
    this.#sets = new Map(sets);
  }

  /** Of all names at once. */
  static of(names: NameTable): TldSets {
    return new TldSets(setsOf(names));
  }

  add(number: number, name: string): void {
    addTo(this.#sets, tldOf(name), number);
  }

  remove(number: number, name: string): void {
    this.#sets.get(tldOf(name))?.delete(number);
  }

  /** Domains under the top-level domain, without its dot. */
  domains(tld: string): DomainSet {
    return this.#sets.get(tld) ?? new DomainSet();
  }

  /** Domains under the top-level domains that begin with the text after a dot; none for other texts. */
  beginningWith(text: string): DomainSet {
    if (!text.startsWith('.')) return new DomainSet();
    return union([...this.#sets].filter(([tld]) => tld.startsWith(text.slice(1))).map(([, set]) => set));
  }

  /** In the order of `words`, for a snapshot. */
  get sets(): readonly DomainSet[] {
    return [...this.#sets.values()];
  }

  get byteLength(): number {
    return sizeOfSets(this.sets);
  }

  words(): Iterable<string> {
    return this.#sets.keys();
  }
}

function setsOf(names: NameTable): Sets {
  const sets: Sets = new Map();
  names.each((number, bytes, _, to) => {
    const from = bytes.lastIndexOf(DOT, to - 1) + 1;
    // Spread syntax would use an iterator, which is four times as slow.
    addTo(sets, String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[]), number);
  });
  return sets;
}

function addTo(sets: Sets, tld: string, number: number): void {
  let set = sets.get(tld);
  if (!set) {
    set = new DomainSet();
    sets.set(tld, set);
  }
  set.add(number);
}

const tldOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
