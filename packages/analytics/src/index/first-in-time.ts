// The first domains in the order of a time, for one page of a large set without a visit to all of its members.
import type { TimeKind } from '../columns/column-page.ts';
import type { DomainColumns } from '../columns/domain-columns.ts';
import { rowOf } from '../columns/pages.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';

/** One of so many domains is among the first. */
const SHARE = 256;
/** Times that are read for the bound. */
const SAMPLE = 8 * SHARE;

interface First {
  readonly kind: TimeKind;
  readonly from: number;
  readonly to: number;
  readonly set: DomainSet;
  /** When it was made: the set is made again once it is half or twice as large. */
  readonly size: number;
}

/** The first question in an order makes its set, 20 ms for ten million domains; it is kept up to date from then on. */
export class FirstInTime {
  readonly #columns: DomainColumns;
  readonly #first = new Map<string, First>();

  constructor(columns: DomainColumns) {
    this.#columns = columns;
  }

  /** All numbers with a time up to a bound, those without domains included; none if too many have no time. */
  of(kind: TimeKind, { isDescending, limit }: { readonly isDescending: boolean; readonly limit: number }): DomainSet {
    const key = `${kind} ${isDescending}`;
    const known = this.#first.get(key);
    if (known) return known.set;
    const times = Array.from({ length: SAMPLE }, (_, i) => this.#time(Math.floor((i * limit) / SAMPLE), kind))
      .filter((time) => time > 0)
      .sort((a, b) => (isDescending ? b - a : a - b));
    const bound = times[SAMPLE / SHARE];
    if (bound === undefined) return new DomainSet();
    const [from, to] = isDescending ? [bound, Number.MAX_SAFE_INTEGER] : [1, bound];
    const set = this.#columns.between(kind, from, to);
    this.#first.set(key, { kind, from, to, set, size: set.size });
    return set;
  }

  /** Follows a change of the times of a domain. */
  move(domain: number): void {
    for (const [key, { kind, from, to, set, size }] of this.#first) {
      const time = this.#time(domain, kind);
      if (time >= from && time <= to) set.add(domain);
      else set.delete(domain);
      if (set.size * 2 < size || set.size > size * 2) this.#first.delete(key);
    }
  }

  get byteLength(): number {
    return sizeOfSets(Array.from(this.#first.values(), ({ set }) => set));
  }

  #time(domain: number, kind: TimeKind): number {
    return this.#columns.page(domain).time(rowOf(domain), kind);
  }
}
