// Counts by number and day for a run of days: a byte each, since most are small, and what goes beyond it beside them.

/** The most that a byte holds; it then says that there is more beside it. */
const FULL = 255;

export class DayCounts {
  /** By day modulo their number. */
  readonly #columns: Uint8Array[];
  readonly #beyond: Map<number, number>[];

  /** For so many days that follow one another. */
  constructor(days: number) {
    this.#columns = Array.from({ length: days }, () => new Uint8Array(0));
    this.#beyond = Array.from({ length: days }, () => new Map());
  }

  on(number: number, day: number): number {
    const at = day % this.#columns.length;
    const count = this.#columns[at]?.[number] ?? 0;
    return count < FULL ? count : FULL + (this.#beyond[at]?.get(number) ?? 0);
  }

  /** `room` is one more than the largest number there may be soon. */
  add(number: number, day: number, room: number): void {
    const at = day % this.#columns.length;
    let column = this.#columns[at] as Uint8Array;
    if (number >= column.length) {
      const longer = new Uint8Array(room);
      longer.set(column);
      column = longer;
      this.#columns[at] = column;
    }
    const count = column[number] as number;
    if (count < FULL) column[number] = count + 1;
    else {
      const beyond = this.#beyond[at] as Map<number, number>;
      beyond.set(number, (beyond.get(number) ?? 0) + 1);
    }
  }

  /** Every number that was counted on a day. */
  each(day: number, visit: (number: number, count: number) => void): void {
    const column = this.#columns[day % this.#columns.length] as Uint8Array;
    for (let number = 0; number < column.length; number += 1)
      if (column[number] !== 0) visit(number, this.on(number, day));
  }

  /** Makes room for another day in its place. */
  clear(day: number): void {
    const at = day % this.#columns.length;
    this.#columns[at]?.fill(0);
    this.#beyond[at]?.clear();
  }
}
