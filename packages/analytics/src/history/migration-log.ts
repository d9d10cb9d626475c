// The migrations of the last weeks in the order of their confirmation, for counts and flows.
import { CATEGORIES, type Category } from '@strata/detect';
import { Dictionary } from '../columns/dictionary.ts';
import { grown } from '../columns/name-table.ts';
import { compareText } from '../compare-text.ts';
import { partitionPoint } from '../partition-point.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { DAY_MS } from './daily-series.ts';

export interface IndexedMigration {
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number;
  readonly domainId: number;
  readonly category: Category;
  readonly from: string;
  readonly to: string;
}

export interface Flow {
  readonly category: Category;
  readonly from: string;
  readonly to: string;
  /** Migrations; a domain that moved twice counts twice. */
  readonly domains: number;
}

export interface Flows {
  /** All migrations of the window that match. */
  readonly total: number;
  /** Number of flows: pairs of providers in a category. */
  readonly pairs: number;
  /** Most domains first, limited as requested. */
  readonly flows: readonly Flow[];
}

export interface FlowFilter {
  readonly category?: Category;
  /** Flows to or from this provider; with `direction` only those to it (`in`) or from it (`out`). */
  readonly provider?: string;
  readonly direction?: 'in' | 'out';
  /** The provider at the other end; ignored without `provider`. */
  readonly other?: string;
  /** Only migrations of these domains. */
  readonly within?: DomainSet | undefined;
  readonly limit: number;
}

/** The maximum age of flows. */
export const FLOW_DAYS = 60;
/** Three numbers in one below 2^53: category, previous provider, new provider. */
const PROVIDERS = 2 ** 22;

export class MigrationLog {
  #times: Float64Array<ArrayBuffer>;
  #keys: Float64Array<ArrayBuffer>;
  #domains: Uint32Array<ArrayBuffer>;
  #count: number;
  readonly #providers: Dictionary;
  /** The window queried last, kept up to date, because the same window is queried repeatedly. */
  #window: { readonly from: number; readonly to: number; readonly counts: Map<number, number> } | undefined;

  /** Takes ownership of the arrays. */
  constructor(columns?: ReturnType<MigrationLog['columns']>, providers: Iterable<string> = []) {
    this.#times = columns?.migrationTimes ?? new Float64Array(1 << 10);
    this.#keys = columns?.migrationKeys ?? new Float64Array(1 << 10);
    this.#domains = columns?.migrationDomains ?? new Uint32Array(1 << 10);
    this.#count = columns?.migrationTimes.length ?? 0;
    this.#providers = new Dictionary(providers);
  }

  /** The clocks of scanners may differ, so a time may be before the last one. */
  add({ confirmedAt: at, domainId, category, from, to }: IndexedMigration): void {
    const newest = this.#count === 0 ? at : Math.max(at, this.#times[this.#count - 1] as number);
    if (at <= newest - FLOW_DAYS * DAY_MS) return;
    const providers = this.#providers.number(from) * PROVIDERS + this.#providers.number(to);
    const key = providers * CATEGORIES.length + CATEGORIES.indexOf(category);
    if (this.#count === this.#times.length) {
      this.#forget(newest);
      if (this.#count * 2 >= this.#times.length) {
        this.#times = grown(this.#times, this.#count + 1);
        this.#keys = grown(this.#keys, this.#count + 1);
        this.#domains = grown(this.#domains, this.#count + 1);
      }
    }
    const index = this.#upTo(at);
    for (const column of [this.#times, this.#keys, this.#domains]) column.copyWithin(index + 1, index, this.#count);
    this.#times[index] = at;
    this.#keys[index] = key;
    this.#domains[index] = domainId;
    this.#count += 1;
    const window = this.#window;
    if (window && at >= window.from && at < window.to) window.counts.set(key, (window.counts.get(key) ?? 0) + 1);
  }

  /** Migrations confirmed after `since` and up to `until`, inclusive; milliseconds. */
  countBetween(since: number, until: number): number {
    return this.#upTo(until) - this.#upTo(since);
  }

  /** Flows from day `from` to day `to`, inclusive (days since the epoch). */
  flows(from: number, to: number, filter: FlowFilter): Flows {
    if (filter.within) return this.flowsBetween(from * DAY_MS - 1, (to + 1) * DAY_MS - 1, filter);
    return this.#flows(this.#countsOfDays(from, to), filter);
  }

  /** Flows of migrations confirmed after `since` and up to `until`, inclusive; milliseconds. */
  flowsBetween(since: number, until: number, filter: FlowFilter): Flows {
    return this.#flows(this.#counts(this.#upTo(since), this.#upTo(until), filter.within), filter);
  }

  #flows(counts: ReadonlyMap<number, number>, { category, provider, direction, other, limit }: FlowFilter): Flows {
    const categoryNumber = category && CATEGORIES.indexOf(category);
    const own = provider === undefined ? undefined : this.#providers.find(provider);
    const end = provider === undefined || other === undefined ? undefined : this.#providers.find(other);
    const isUnknown = (name: string | undefined, number: number | undefined) =>
      name !== undefined && number === undefined;
    if (provider !== undefined && (isUnknown(provider, own) || isUnknown(other, end)))
      return { total: 0, pairs: 0, flows: [] };
    const isFitting = (key: number) => {
      if (categoryNumber !== undefined && key % CATEGORIES.length !== categoryNumber) return false;
      if (own === undefined) return true;
      const [left, chosen] = numbersOf(key);
      return (
        (direction !== 'out' && chosen === own && (end ?? left) === left) ||
        (direction !== 'in' && left === own && (end ?? chosen) === chosen)
      );
    };
    let total = 0;
    let pairs = 0;
    const byCount = new Map<number, number>();
    for (const [key, count] of counts) {
      if (!isFitting(key)) continue;
      total += count;
      pairs += 1;
      byCount.set(count, (byCount.get(count) ?? 0) + 1);
    }
    // Most flows count one or two domains and need no sorting: only possible members of the result are materialised.
    const min = minOfTop(byCount, limit);
    const flows: Flow[] = [];
    for (const [key, count] of counts) if (count >= min && isFitting(key)) flows.push(this.#flowOf(key, count));
    flows.sort(inOrder);
    return { total, pairs, flows: flows.slice(0, limit) };
  }

  get byteLength(): number {
    return this.#times.byteLength + this.#keys.byteLength + this.#domains.byteLength;
  }

  /** As arrays, for a snapshot, without entries that are too old for any query. */
  columns() {
    if (this.#count > 0) this.#forget(this.#times[this.#count - 1] as number);
    return {
      migrationTimes: this.#times.slice(0, this.#count),
      migrationKeys: this.#keys.slice(0, this.#count),
      migrationDomains: this.#domains.slice(0, this.#count),
    };
  }

  get providers(): readonly string[] {
    return this.#providers.words();
  }

  /** A comparable description, independent of the order in which the log was built. */
  describe(): readonly (readonly [at: number, flow: Flow, domain: number])[] {
    const { migrationTimes, migrationKeys, migrationDomains } = this.columns();
    return Array.from(migrationTimes, (at, i) => {
      return [at, this.#flowOf(migrationKeys[i] as number, 1), migrationDomains[i] as number] as const;
    }).sort(([a, flow, domain], [b, other, next]) => a - b || inOrder(flow, other) || domain - next);
  }

  #countsOfDays(from: number, to: number): ReadonlyMap<number, number> {
    const [start, end] = [from * DAY_MS, (to + 1) * DAY_MS];
    if (this.#window?.from === start && this.#window.to === end) return this.#window.counts;
    const counts = this.#counts(this.#upTo(start - 1), this.#upTo(end - 1));
    this.#window = { from: start, to: end, counts };
    return counts;
  }

  /** Flows of the positions `first` to `end`, exclusive. */
  #counts(first: number, end: number, within?: DomainSet): Map<number, number> {
    const counts = new Map<number, number>();
    for (let i = first; i < end; i += 1) {
      if (within && !within.has(this.#domains[i] as number)) continue;
      const key = this.#keys[i] as number;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  #flowOf(key: number, domains: number): Flow {
    const pair = Math.floor(key / CATEGORIES.length);
    return {
      category: CATEGORIES[key % CATEGORIES.length] as Category,
      from: this.#providers.word(Math.floor(pair / PROVIDERS)),
      to: this.#providers.word(pair % PROVIDERS),
      domains,
    };
  }

  #forget(newest: number): void {
    const old = this.#upTo(newest - FLOW_DAYS * DAY_MS);
    if (old === 0) return;
    this.#window = undefined;
    for (const column of [this.#times, this.#keys, this.#domains]) column.copyWithin(0, old, this.#count);
    this.#count -= old;
  }

  /** Number of entries at or before a time. */
  #upTo(time: number): number {
    return partitionPoint(0, this.#count, (at) => (this.#times[at] as number) <= time);
  }
}

/** Most domains first; a total order, so that the order of equal flows is stable. */
function inOrder(a: Flow, b: Flow): number {
  return (
    b.domains - a.domains ||
    compareText(a.category, b.category) ||
    compareText(a.from, b.from) ||
    compareText(a.to, b.to)
  );
}

/** The smallest count that may be among the first `limit`, including ties. */
function minOfTop(byCount: ReadonlyMap<number, number>, limit: number): number {
  let taken = 0;
  let min = 0;
  for (const [count, flows] of [...byCount].sort(([a], [b]) => b - a)) {
    min = count;
    taken += flows;
    if (taken >= limit) break;
  }
  return min;
}

/** The providers' numbers in a key: previous and new. */
export function numbersOf(key: number): readonly [from: number, to: number] {
  const pair = Math.floor(key / CATEGORIES.length);
  return [Math.floor(pair / PROVIDERS), pair % PROVIDERS];
}
