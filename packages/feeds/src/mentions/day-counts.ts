// Counts by number and day, for consecutive days: one byte each, since most are small, and larger counts in a map.

/** The largest value of a byte; counts from here on continue in the map. */
const FULL = 255;

export class DayCounts {
  /** By day modulo the number of days. */
  readonly #columns: Uint8Array[];
  readonly #overflow: Map<number, number>[];

  constructor(days: number) {
    this.#columns = Array.from({ length: days }, () => new Uint8Array(0));
    this.#overflow = Array.from({ length: days }, () => new Map());
  }

  on(number: number, day: number): number {
    const at = day % this.#columns.length;
    const count = this.#columns[at]?.[number] ?? 0;
    return count < FULL ? count : FULL + (this.#overflow[at]?.get(number) ?? 0);
  }

  /** `capacity`: the new length of the column if it has to grow. */
  add(number: number, day: number, capacity: number): void {
    const at = day % this.#columns.length;
    let column = this.#columns[at] as Uint8Array;
    if (number >= column.length) {
      const longer = new Uint8Array(capacity);
      longer.set(column);
      column = longer;
      this.#columns[at] = column;
    }
    const count = column[number] as number;
    if (count < FULL) column[number] = count + 1;
    else {
      const overflow = this.#overflow[at] as Map<number, number>;
      overflow.set(number, (overflow.get(number) ?? 0) + 1);
    }
  }

  /** Visits every number with a count on a day. */
  each(day: number, visit: (number: number, count: number) => void): void {
    const column = this.#columns[day % this.#columns.length] as Uint8Array;
    for (let number = 0; number < column.length; number += 1)
      if (column[number] !== 0) visit(number, this.on(number, day));
  }

  /** Reuses the column for another day. */
  clear(day: number): void {
    const at = day % this.#columns.length;
    this.#columns[at]?.fill(0);
    this.#overflow[at]?.clear();
  }
}
