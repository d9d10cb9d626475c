// The history of everything counted, by day: gains and losses of providers, alone and by category, migrations, flows, scans.
// A change counts on the day on which it was confirmed, so that a day that is over never changes any more.
import type { Category, ChangeType } from '@strata/detect';
import { DailySeries, dayOf } from './daily-series.ts';

export interface IndexedChange {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly confirmedAt: number;
  readonly category: Category;
  readonly type: ChangeType;
  readonly from: string | null;
  readonly to: string | null;
  /** The domain began to use `to` at all; stopped using `from` altogether. */
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

export interface Flow {
  readonly category: Category;
  readonly from: string;
  readonly to: string;
  readonly domains: number;
}

export interface DayOfScans {
  readonly day: number;
  readonly scans: number;
}

/** Fields of a provider's series. `reclassified`: changes of our rules, which are no movement of anybody's. */
const GAINED = 0;
const LOST = 1;
const RECLASSIFIED = 2;

type SeriesMap = Map<string, DailySeries>;

export class ChangeHistory {
  readonly #providers: SeriesMap = new Map();
  /** By `category provider`. */
  readonly #placements: SeriesMap = new Map();
  /** Migrations by category. */
  readonly #categories: SeriesMap = new Map();
  /** By `category from to`. */
  readonly #flows: SeriesMap = new Map();
  readonly #scans = new DailySeries(1);
  /** Days on which a version of the rulebook was first used. */
  readonly #rulebooks = new Map<string, number>();
  /** When each migration was confirmed, in order. */
  readonly #migratedAt: number[] = [];

  add(change: IndexedChange): void {
    const { category, type, from, to, isEntry, isExit } = change;
    const day = dayOf(change.confirmedAt);
    if (type === 'reclassified') {
      for (const provider of [from, to]) {
        if (provider === null) continue;
        series(this.#providers, provider, 3).add(day, RECLASSIFIED);
        series(this.#placements, `${category} ${provider}`, 3).add(day, RECLASSIFIED);
      }
      return;
    }
    if (to !== null) {
      series(this.#placements, `${category} ${to}`, 3).add(day, GAINED);
      if (isEntry) series(this.#providers, to, 3).add(day, GAINED);
    }
    if (from !== null) {
      series(this.#placements, `${category} ${from}`, 3).add(day, LOST);
      if (isExit) series(this.#providers, from, 3).add(day, LOST);
    }
    if (type !== 'migrated' || from === null || to === null) return;
    series(this.#categories, category, 1).add(day, 0);
    series(this.#flows, `${category} ${from} ${to}`, 1).add(day, 0);
    insertInOrder(this.#migratedAt, change.confirmedAt);
  }

  addScans(day: number, scans: number, rulebook?: string): void {
    this.#scans.add(day, 0, scans);
    if (rulebook === undefined) return;
    const known = this.#rulebooks.get(rulebook);
    if (known === undefined || day < known) this.#rulebooks.set(rulebook, day);
  }

  /** Net movement of a provider, or of a provider in a category, over days `from` up to and with `to`. */
  movement(subject: { readonly provider: string; readonly category?: Category }, from: number, to: number) {
    const of = this.#of(subject);
    return { gained: of?.sum(GAINED, from, to) ?? 0, lost: of?.sum(LOST, from, to) ?? 0 };
  }

  reclassifiedOn(subject: { readonly provider: string; readonly category?: Category }, day: number): number {
    return this.#of(subject)?.on(day, RECLASSIFIED) ?? 0;
  }

  /** Days on which the provider gained, lost or was reclassified. */
  daysOf(subject: { readonly provider: string; readonly category?: Category }): readonly number[] {
    return this.#of(subject)?.days() ?? [];
  }

  /** Migrations of a category over days `from` up to and with `to`. */
  migrations(category: Category, from: number, to: number): number {
    return this.#categories.get(category)?.sum(0, from, to) ?? 0;
  }

  /** Migrations confirmed after `since` up to and with `until`, milliseconds. */
  migratedBetween(since: number, until: number): number {
    return countUpTo(this.#migratedAt, until) - countUpTo(this.#migratedAt, since);
  }

  /** Who went where over days `from` up to and with `to`, most domains first. */
  flows(from: number, to: number, filter: { readonly category?: Category; readonly provider?: string } = {}): Flow[] {
    const flows: Flow[] = [];
    for (const [key, of] of this.#flows) {
      const [category, left, came] = key.split(' ') as [Category, string, string];
      if (filter.category !== undefined && category !== filter.category) continue;
      if (filter.provider !== undefined && left !== filter.provider && came !== filter.provider) continue;
      const domains = of.sum(0, from, to);
      if (domains > 0) flows.push({ category, from: left, to: came, domains });
    }
    return flows.sort(
      (a, b) =>
        b.domains - a.domains ||
        compareText(a.category, b.category) ||
        compareText(a.from, b.from) ||
        compareText(a.to, b.to),
    );
  }

  /** Days with scans, from `from` on. */
  scanDays(from = Number.NEGATIVE_INFINITY): DayOfScans[] {
    return this.#scans.days(from).map((day) => ({ day, scans: this.#scans.on(day, 0) }));
  }

  get scans(): number {
    return this.#scans.sum(0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** The last day on which a rulebook was first used, or undefined. */
  newestRulebookDay(): number | undefined {
    const days = [...this.#rulebooks.values()];
    return days.length === 0 ? undefined : Math.max(...days);
  }

  providers(): readonly string[] {
    return [...this.#providers.keys()];
  }

  toJSON() {
    return {
      providers: sortedEntries(this.#providers),
      placements: sortedEntries(this.#placements),
      categories: sortedEntries(this.#categories),
      flows: sortedEntries(this.#flows),
      scans: this.#scans.toJSON(),
      rulebooks: [...this.#rulebooks].sort(([a], [b]) => compareText(a, b)),
      migratedAt: this.#migratedAt,
    };
  }

  static from(json: ReturnType<ChangeHistory['toJSON']>): ChangeHistory {
    const history = new ChangeHistory();
    const restore = (map: SeriesMap, entries: typeof json.providers, width: number) => {
      for (const [key, of] of entries) map.set(key, DailySeries.from(width, of));
    };
    restore(history.#providers, json.providers, 3);
    restore(history.#placements, json.placements, 3);
    restore(history.#categories, json.categories, 1);
    restore(history.#flows, json.flows, 1);
    const [days, scans] = json.scans;
    for (const [i, day] of days.entries()) history.#scans.add(day, 0, scans[i]);
    for (const [rulebook, day] of json.rulebooks) history.#rulebooks.set(rulebook, day);
    for (const at of json.migratedAt) history.#migratedAt.push(at);
    return history;
  }

  #of({ provider, category }: { readonly provider: string; readonly category?: Category }): DailySeries | undefined {
    return category === undefined ? this.#providers.get(provider) : this.#placements.get(`${category} ${provider}`);
  }
}

function series(map: SeriesMap, key: string, width: number): DailySeries {
  const known = map.get(key);
  if (known) return known;
  const made = new DailySeries(width);
  map.set(key, made);
  return made;
}

function sortedEntries(map: SeriesMap): (readonly [string, ReturnType<DailySeries['toJSON']>])[] {
  return [...map].sort(([a], [b]) => compareText(a, b)).map(([key, of]) => [key, of.toJSON()] as const);
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Several scanners may be a little out of step. */
function insertInOrder(times: number[], time: number): void {
  if (times.length === 0 || time >= (times.at(-1) as number)) times.push(time);
  else times.splice(countUpTo(times, time), 0, time);
}

function countUpTo(times: readonly number[], until: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= until) low = middle + 1;
    else high = middle;
  }
  return low;
}
