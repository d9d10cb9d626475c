// The first domains in the order of a time, for one page of a large set without a visit to all of its members.
import type { TimeKind } from '../columns/column-page.ts';
import type { DomainColumns } from '../columns/domain-columns.ts';
import { rowOf } from '../columns/pages.ts';
import { type DomainSet, sizeOfSets } from '../sets/domain-set.ts';

/** One of so many domains is among the first. */
const SHARE = 256;
/** Times that are read for the bound. */
const SAMPLE = 8 * SHARE;

/** The sets are made again when they have twice or half as many numbers as then, and so many more or fewer. */
const SLACK = 64;

interface First {
  /** All numbers with a time up to a bound in the order, those without domains included. */
  readonly before: DomainSet;
  /** The next time in the order and the numbers with it, where many have the same; the bound excludes them. */
  readonly tied?: { readonly at: number; readonly set: DomainSet };
  /** `before` has all numbers with a time. */
  readonly isComplete: boolean;
}

interface Kept extends First {
  readonly kind: TimeKind;
  /** Of the times in `before`. */
  readonly from: number;
  readonly to: number;
  /** When they were made. */
  readonly size: number;
}

/** The first question in an order makes its sets, 20 ms for ten million domains; they are kept up to date from then on. */
export class FirstInTime {
  readonly #columns: DomainColumns;
  readonly #first = new Map<string, Kept>();

  constructor(columns: DomainColumns) {
    this.#columns = columns;
  }

  of(kind: TimeKind, { isDescending, limit }: { readonly isDescending: boolean; readonly limit: number }): First {
    const key = `${kind} ${isDescending}`;
    const known = this.#first.get(key);
    if (known) return known;
    const times = Array.from({ length: SAMPLE }, (_, i) => this.#time(Math.floor((i * limit) / SAMPLE), kind))
      .filter((time) => time > 0)
      .sort((a, b) => (isDescending ? b - a : a - b));
    const at = times[SAMPLE / SHARE];
    const isTied = at !== undefined && times.filter((time) => time === at).length > 1;
    const all = [1, Number.MAX_SAFE_INTEGER] as const;
    const without = Number(isTied);
    const [from, to] = at === undefined ? all : isDescending ? [at + without, all[1]] : [all[0], at - without];
    const before = this.#columns.between(kind, from, to);
    const tied = isTied ? { at, set: this.#columns.between(kind, at, at) } : undefined;
    const first = { before, isComplete: at === undefined, ...(tied && { tied }) };
    this.#first.set(key, { ...first, kind, from, to, size: sizeOf(first) });
    return first;
  }

  /** Follows a change of the times of a domain. */
  move(domain: number): void {
    for (const [key, first] of this.#first) {
      const { kind, from, to, before, tied, size } = first;
      const time = this.#time(domain, kind);
      if (time >= from && time <= to) before.add(domain);
      else before.delete(domain);
      if (time === tied?.at) tied.set.add(domain);
      else tied?.set.delete(domain);
      const now = sizeOf(first);
      if (now * 2 + SLACK < size || now > size * 2 + SLACK) this.#first.delete(key);
    }
  }

  get byteLength(): number {
    return sizeOfSets([...this.#first.values()].flatMap(({ before, tied }) => [before, tied?.set]));
  }

  #time(domain: number, kind: TimeKind): number {
    return this.#columns.page(domain).time(rowOf(domain), kind);
  }
}

const sizeOf = ({ before, tied }: First): number => before.size + (tied?.set.size ?? 0);
