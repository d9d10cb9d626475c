// For every top-level domain the set of domains under it.
import type { NameTable } from '../columns/name-table.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';

const DOT = 46;
type Sets = Map<string, DomainSet>;

/** Built by the first question, which takes 0.3 s for a million names; kept up to date from then on. */
export class TldSets {
  readonly #names: NameTable;
  #built: Sets | undefined;

  constructor(names: NameTable) {
    this.#names = names;
  }

  add(number: number, name: string): void {
    if (this.#built) addTo(this.#built, tldOf(name), number);
  }

  remove(number: number, name: string): void {
    this.#built?.get(tldOf(name))?.delete(number);
  }

  /** Domains under the top-level domain, without its dot. */
  domains(tld: string): DomainSet {
    return this.#sets().get(tld) ?? new DomainSet();
  }

  get byteLength(): number {
    return sizeOfSets([...(this.#built?.values() ?? [])]);
  }

  words(): Iterable<string> {
    return this.#sets().keys();
  }

  #sets(): Sets {
    this.#built ??= setsOf(this.#names);
    return this.#built;
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
