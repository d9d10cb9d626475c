// For every top-level domain the set of domains under it.
import type { NameTable } from '../columns/name-table.ts';
import { DomainSet } from '../sets/domain-set.ts';

const DOT = 46;

export class TldSets {
  readonly #sets = new Map<string, DomainSet>();

  /** Of all names at once. */
  static of(names: NameTable): TldSets {
    const tlds = new TldSets();
    names.each((number, bytes, _, to) => {
      const from = bytes.lastIndexOf(DOT, to - 1) + 1;
      // Spread syntax would use an iterator, which is four times as slow.
      tlds.#add(String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[]), number);
    });
    return tlds;
  }

  add(number: number, name: string): void {
    this.#add(tldOf(name), number);
  }

  remove(number: number, name: string): void {
    this.#sets.get(tldOf(name))?.delete(number);
  }

  /** Domains under the top-level domain, without its dot. */
  domains(tld: string): DomainSet {
    return this.#sets.get(tld) ?? new DomainSet();
  }

  words(): Iterable<string> {
    return this.#sets.keys();
  }

  #add(tld: string, number: number): void {
    let set = this.#sets.get(tld);
    if (!set) {
      set = new DomainSet();
      this.#sets.set(tld, set);
    }
    set.add(number);
  }
}

const tldOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
