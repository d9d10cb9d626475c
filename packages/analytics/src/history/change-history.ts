// Daily counts: gains and losses of providers, in total and by category, and migrations; the flows of the last weeks, and
// scans. A change counts on the day of its confirmation, so that a past day does not change, except for scans in progress
// at its end.
import type { Category, ChangeType } from '@strata/detect';
import { compareText } from '../compare-text.ts';
import { DailySeries, dayOf } from './daily-series.ts';
import { MigrationLog } from './migration-log.ts';
import { ScanDays } from './scan-days.ts';

export interface IndexedChange {
  readonly domainId: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly confirmedAt: number;
  readonly category: Category;
  readonly type: ChangeType;
  readonly from: string | null;
  readonly to: string | null;
  /** The domain began to use `to` in any category; stopped using `from` in all categories. */
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

/** Changes of one day (days since the epoch), category and provider. */
export interface DayOfChanges {
  readonly day: number;
  readonly category: Category;
  readonly provider: string;
  readonly gained: number;
  /** Gains with which the domain began to use the provider in any category. */
  readonly entered: number;
  readonly lost: number;
  /** Losses with which the domain stopped using the provider in all categories. */
  readonly exited: number;
  /** Gains that are migrations from another provider. */
  readonly migrated: number;
  readonly reclassified: number;
}

/** Fields of a provider's series. `reclassified`: changes of our rules, which are not changes of domains. */
const GAINED = 0;
const LOST = 1;
const RECLASSIFIED = 2;

type SeriesMap = Map<string, DailySeries>;
/** Counts per day of the series of providers, placements and categories. */
export const SERIES_WIDTHS = [3, 3, 1] as const;

export class ChangeHistory {
  readonly #providers: SeriesMap = new Map();
  /** By `category provider`. */
  readonly #placements: SeriesMap = new Map();
  readonly #categories: SeriesMap = new Map();
  readonly migrationLog: MigrationLog;
  readonly scans: ScanDays;

  constructor(snapshot?: ReturnType<ChangeHistory['columns']>) {
    this.migrationLog = new MigrationLog(snapshot?.columns, snapshot?.lists.migrating);
    this.scans = new ScanDays(snapshot?.lists);
    if (!snapshot) return;
    const maps = [this.#providers, this.#placements, this.#categories];
    unpackSeries(maps, { columns: snapshot.columns, keys: snapshot.lists.series });
  }

  add(change: IndexedChange): void {
    const { domainId, category, type, from, to, confirmedAt } = change;
    const [entered, exited] = [Number(change.isEntry), Number(change.isExit)];
    const none = { day: dayOf(confirmedAt), category, gained: 0, entered: 0, lost: 0, exited: 0, migrated: 0 };
    const isMigration = type === 'migrated' && from !== null && to !== null;
    if (type === 'reclassified') {
      for (const provider of [from, to]) if (provider !== null) this.addDay({ ...none, provider, reclassified: 1 });
      return;
    }
    const moved = { ...none, reclassified: 0 };
    if (to !== null) this.addDay({ ...moved, provider: to, gained: 1, entered, migrated: Number(isMigration) });
    if (from !== null) this.addDay({ ...moved, provider: from, lost: 1, exited });
    if (isMigration) this.migrationLog.add({ confirmedAt, domainId, category, from, to });
  }

  /** Adds all changes of a day; its migrations are added to `migrationLog` separately. */
  addDay(counts: DayOfChanges): void {
    const { day, category, provider, gained, entered, lost, exited, migrated, reclassified } = counts;
    addTo(this.#placements, `${category} ${provider}`, { day, gained, lost, reclassified });
    addTo(this.#providers, provider, { day, gained: entered, lost: exited, reclassified });
    if (migrated > 0) series(this.#categories, category, 1).add(day, 0, migrated);
  }

  /** Net change of a provider, or of a provider in a category, from day `from` to day `to`, inclusive. */
  movement(subject: { readonly provider: string; readonly category?: Category }, from: number, to: number) {
    const of = this.#of(subject);
    return { gained: of?.sum(GAINED, from, to) ?? 0, lost: of?.sum(LOST, from, to) ?? 0 };
  }

  reclassifiedOn(subject: { readonly provider: string; readonly category?: Category }, day: number): number {
    return this.#of(subject)?.on(day, RECLASSIFIED) ?? 0;
  }

  /** Migrations of a category from day `from` to day `to`, inclusive. */
  migrations(category: Category, from: number, to: number): number {
    return this.#categories.get(category)?.sum(0, from, to) ?? 0;
  }

  providers(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /** As arrays and short lists, for a snapshot. */
  columns() {
    const packed = packSeries([this.#providers, this.#placements, this.#categories]);
    return {
      columns: { ...packed.columns, ...this.migrationLog.columns() },
      lists: { series: packed.keys, ...this.scans.lists(), migrating: this.migrationLog.providers },
    };
  }

  /** A comparable description, independent of the order in which the history was built. */
  describe() {
    const entries = (map: SeriesMap) =>
      [...map].sort(([a], [b]) => compareText(a, b)).map(([key, of]) => [key, of.toJSON()]);
    return {
      providers: entries(this.#providers),
      placements: entries(this.#placements),
      categories: entries(this.#categories),
      ...this.scans.lists(),
      migrated: this.migrationLog.describe(),
    };
  }

  /** Bytes by part. */
  get memory(): Readonly<Record<string, number>> {
    const series = [this.#providers, this.#placements, this.#categories].flatMap((map) => [...map.values()]);
    return {
      history: series.reduce((sum, each) => sum + each.byteLength, 0),
      migrations: this.migrationLog.byteLength,
    };
  }

  #of({ provider, category }: { readonly provider: string; readonly category?: Category }): DailySeries | undefined {
    return category === undefined ? this.#providers.get(provider) : this.#placements.get(`${category} ${provider}`);
  }
}

type Movement = Pick<DayOfChanges, 'day' | 'gained' | 'lost' | 'reclassified'>;

function addTo(map: SeriesMap, key: string, { day, gained, lost, reclassified }: Movement): void {
  if (gained + lost + reclassified === 0) return;
  const of = series(map, key, SERIES_WIDTHS[0]);
  if (gained > 0) of.add(day, GAINED, gained);
  if (lost > 0) of.add(day, LOST, lost);
  if (reclassified > 0) of.add(day, RECLASSIFIED, reclassified);
}

function series(map: SeriesMap, key: string, width: number): DailySeries {
  const known = map.get(key);
  if (known) return known;
  const made = new DailySeries(width);
  map.set(key, made);
  return made;
}

/** All series concatenated: the key of each, and its number of days. */
function packSeries(maps: readonly SeriesMap[]) {
  const keys: string[][] = maps.map((map) => [...map.keys()]);
  const all = maps.flatMap((map) => Array.from(map.values(), (of) => of.arrays()));
  const total = (field: 0 | 1) => all.reduce((sum, of) => sum + of[field].length, 0);
  const columns = {
    seriesLengths: Uint32Array.from(all, ([days]) => days.length),
    seriesDays: new Uint32Array(total(0)),
    seriesCounts: new Uint32Array(total(1)),
  };
  let day = 0;
  let count = 0;
  for (const [ofDays, ofCounts] of all) {
    columns.seriesDays.set(ofDays, day);
    columns.seriesCounts.set(ofCounts, count);
    day += ofDays.length;
    count += ofCounts.length;
  }
  return { keys, columns };
}

function unpackSeries(
  maps: readonly SeriesMap[],
  { keys, columns }: Pick<ReturnType<typeof packSeries>, 'keys' | 'columns'>,
): void {
  const { seriesLengths, seriesDays, seriesCounts } = columns;
  let next = 0;
  let day = 0;
  let count = 0;
  for (const [kind, map] of maps.entries()) {
    const width = SERIES_WIDTHS[kind] as number;
    for (const key of keys[kind] ?? []) {
      const length = seriesLengths[next++] as number;
      const days = seriesDays.subarray(day, day + length);
      map.set(key, new DailySeries(width, [days, seriesCounts.subarray(count, count + length * width)]));
      day += length;
      count += length * width;
    }
  }
}
