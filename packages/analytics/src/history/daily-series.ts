// Sparse counts by day: days without counts take no space.
import { partitionPoint } from '../partition-point.ts';

export const DAY_MS = 86_400_000;

/** Days since 1970-01-01 UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

export class DailySeries {
  readonly #days: number[];
  /** `width` counts per day, concatenated. */
  readonly #counts: number[];
  readonly #width: number;

  constructor(width: number, [days, counts]: readonly [days: Iterable<number>, counts: Iterable<number>] = [[], []]) {
    this.#width = width;
    this.#days = [...days];
    this.#counts = [...counts];
  }

  add(day: number, field: number, count = 1): void {
    const at = this.#indexOf(day);
    this.#counts[at * this.#width + field] = (this.#counts[at * this.#width + field] ?? 0) + count;
  }

  /** The count of one day. */
  on(day: number, field: number): number {
    const at = this.#firstFrom(day);
    return this.#days[at] === day ? (this.#counts[at * this.#width + field] ?? 0) : 0;
  }

  /** Sum over the days from `from` to `to`, inclusive. */
  sum(field: number, from: number, to: number): number {
    let sum = 0;
    for (let at = this.#firstFrom(from); at < this.#days.length && (this.#days[at] as number) <= to; at += 1) {
      sum += this.#counts[at * this.#width + field] ?? 0;
    }
    return sum;
  }

  /** The days with counts, starting at `from`. */
  days(from = Number.NEGATIVE_INFINITY): number[] {
    return this.#days.slice(this.#firstFrom(from));
  }

  get byteLength(): number {
    return (this.#days.length + this.#counts.length) * Float64Array.BYTES_PER_ELEMENT;
  }

  toJSON(): readonly [readonly number[], readonly number[]] {
    return [this.#days, this.#counts];
  }

  #indexOf(day: number): number {
    const last = this.#days.length - 1;
    if (last >= 0 && this.#days[last] === day) return last;
    const at = last < 0 || day > (this.#days[last] as number) ? last + 1 : this.#firstFrom(day);
    if (this.#days[at] === day) return at;
    this.#days.splice(at, 0, day);
    this.#counts.splice(at * this.#width, 0, ...new Array<number>(this.#width).fill(0));
    return at;
  }

  #firstFrom(day: number): number {
    return partitionPoint(0, this.#days.length, (at) => (this.#days[at] as number) < day);
  }
}
