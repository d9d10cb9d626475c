// Scans by day, and the days on which versions of the rulebook were first used.
import { compareText } from '../compare-text.ts';
import { DailySeries } from './daily-series.ts';

export interface DayOfScans {
  readonly day: number;
  /** Scans that resolved at least one record. */
  readonly scans: number;
}

export interface CountedScans {
  readonly scans: number;
  /** Scans that resolved at least one record: a day on which nothing could be resolved does not count as scanned. */
  readonly measured: number;
  readonly rulebook: string;
}

/** The form in a snapshot: days, and the counts of each; rulebooks with their first days. */
export interface ScanDayLists {
  readonly scans: ReturnType<DailySeries['toJSON']>;
  readonly rulebooks: readonly (readonly [rulebook: string, day: number])[];
}

/** Fields of the series. */
const ALL = 0;
const MEASURED = 1;
export const SCAN_FIELDS = 2;

export class ScanDays {
  readonly #series: DailySeries;
  readonly #rulebooks: Map<string, number>;

  constructor({ scans, rulebooks }: ScanDayLists = { scans: [[], []], rulebooks: [] }) {
    this.#series = new DailySeries(SCAN_FIELDS, scans);
    this.#rulebooks = new Map(rulebooks);
  }

  add(day: number, { scans, measured, rulebook }: CountedScans): void {
    this.#series.add(day, ALL, scans);
    this.#series.add(day, MEASURED, measured);
    const known = this.#rulebooks.get(rulebook);
    if (known === undefined || day < known) this.#rulebooks.set(rulebook, day);
  }

  /** Days with scans that resolved at least one record, starting at `from`. */
  days(from = Number.NEGATIVE_INFINITY): DayOfScans[] {
    return this.#series
      .days(from)
      .map((day) => ({ day, scans: this.#series.on(day, MEASURED) }))
      .filter(({ scans }) => scans > 0);
  }

  /** The number of all scans. */
  get total(): number {
    return this.#series.sum(ALL, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** The last day on which a rulebook was first used, or undefined. */
  newestRulebookDay(): number | undefined {
    const days = [...this.#rulebooks.values()];
    return days.length === 0 ? undefined : Math.max(...days);
  }

  /** For a snapshot; in an order that does not depend on the order in which the days were added. */
  lists(): ScanDayLists {
    const rulebooks = [...this.#rulebooks].sort(([a], [b]) => compareText(a, b));
    return { scans: this.#series.toJSON(), rulebooks };
  }
}
