// Sparse counts by day: days without counts take no space.
import { grown } from '../columns/name-table.ts';
import { partitionPoint } from '../partition-point.ts';

export const DAY_MS = 86_400_000;

/** Days since 1970-01-01 UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

export class DailySeries {
  /** With spare capacity at the end, as the counts. */
  #days: Uint32Array<ArrayBuffer>;
  /** `width` counts per day, concatenated. */
  #counts: Uint32Array<ArrayBuffer>;
  #length: number;
  readonly #width: number;

  constructor(width: number, [days, counts]: readonly [days: ArrayLike<number>, counts: ArrayLike<number>] = [[], []]) {
    this.#width = width;
    this.#days = new Uint32Array(days);
    this.#counts = new Uint32Array(counts);
    this.#length = days.length;
  }

  add(day: number, field: number, count = 1): void {
    const at = this.#indexOf(day) * this.#width + field;
    this.#counts[at] = (this.#counts[at] as number) + count;
  }

  /** The count of one day. */
  on(day: number, field: number): number {
    return this.sum(field, day, day);
  }

  /** Sum over the days from `from` to `to`, inclusive. */
  sum(field: number, from: number, to: number): number {
    let sum = 0;
    for (let at = this.#firstFrom(from); at < this.#length && (this.#days[at] as number) <= to; at += 1)
      sum += this.#counts[at * this.#width + field] as number;
    return sum;
  }

  /** The days with counts, starting at `from`. */
  days(from = Number.NEGATIVE_INFINITY): number[] {
    return Array.from(this.#days.subarray(this.#firstFrom(from), this.#length));
  }

  get byteLength(): number {
    return this.#days.byteLength + this.#counts.byteLength;
  }

  /** Days and counts; views that are valid until the next change. */
  arrays(): readonly [days: Uint32Array<ArrayBuffer>, counts: Uint32Array<ArrayBuffer>] {
    return [this.#days.subarray(0, this.#length), this.#counts.subarray(0, this.#length * this.#width)];
  }

  toJSON(): readonly [readonly number[], readonly number[]] {
    const [days, counts] = this.arrays();
    return [Array.from(days), Array.from(counts)];
  }

  #indexOf(day: number): number {
    const last = this.#length - 1;
    if (last >= 0 && this.#days[last] === day) return last;
    const at = last < 0 || day > (this.#days[last] as number) ? last + 1 : this.#firstFrom(day);
    if (at <= last && this.#days[at] === day) return at;
    const width = this.#width;
    if (this.#length === this.#days.length) {
      this.#days = grown(this.#days, this.#length + 4);
      this.#counts = grown(this.#counts, this.#days.length * width);
    }
    this.#days.copyWithin(at + 1, at, this.#length);
    this.#days[at] = day;
    this.#counts.copyWithin((at + 1) * width, at * width, this.#length * width);
    this.#counts.fill(0, at * width, (at + 1) * width);
    this.#length += 1;
    return at;
  }

  #firstFrom(day: number): number {
    return partitionPoint(0, this.#length, (at) => (this.#days[at] as number) < day);
  }
}
