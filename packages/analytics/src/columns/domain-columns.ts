// The data of each domain except its name, by domain number: facts of one value each, and one pool of its services
// followed by the numbers of its builds.
import { grown } from './name-table.ts';

/** A service in the pool: placement (provider in a category) and confidence in one word. */
export type PackedService = number;

export const packService = (placement: number, level: number): PackedService => placement * 4 + level;
export const placementOf = (service: PackedService): number => service >>> 2;
/** Index of its confidence in `LEVELS`. */
export const levelOf = (service: PackedService): number => service & 3;

/** The maximum of services of one domain, which the pool counts in a byte. */
export const MAX_SERVICES = 255;

export interface DomainFacts {
  readonly scannedAt: number;
  /** Time of the first scan that measured it, in full seconds. */
  readonly firstSeen: number;
  /** Time at which its last change was confirmed, in full seconds; 0: it has not changed. */
  readonly changedAt: number;
  readonly state: number;
  readonly sector: number;
  readonly posture: number;
  readonly holders: number;
  /** `countryNumber` of the network of its address. */
  readonly country: number;
  /** 0–100, or null. */
  readonly score: number | null;
}

export const TIME_KINDS = ['scanned_at', 'first_seen', 'changed_at'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];
const SECOND_MS = 1_000;

/** The stored value of an unknown score. */
export const NO_SCORE = 255;

/** With less waste than this the pool is not compacted. */
const MIN_WASTE = 1 << 16;

/** Facts by domain number. */
interface FactColumns {
  readonly scannedAt: Float64Array<ArrayBuffer>;
  /** Seconds since the epoch, until the year 2106. */
  readonly firstSeen: Uint32Array<ArrayBuffer>;
  readonly changedAt: Uint32Array<ArrayBuffer>;
  readonly state: Uint8Array<ArrayBuffer>;
  readonly sector: Uint8Array<ArrayBuffer>;
  readonly score: Uint8Array<ArrayBuffer>;
  readonly posture: Uint32Array<ArrayBuffer>;
  readonly holders: Uint32Array<ArrayBuffer>;
  readonly country: Uint16Array<ArrayBuffer>;
  /** Where the services and builds of the domain begin in the pool. */
  readonly starts: Uint32Array<ArrayBuffer>;
  /** Services in the pool, and builds after them. */
  readonly counts: Uint8Array<ArrayBuffer>;
  readonly buildCounts: Uint8Array<ArrayBuffer>;
}

export interface ColumnArrays extends FactColumns {
  readonly pool: Uint32Array<ArrayBuffer>;
}

const FIRST_LENGTH = 1 << 10;
const noDomains = (): ColumnArrays => ({
  scannedAt: new Float64Array(FIRST_LENGTH),
  firstSeen: new Uint32Array(FIRST_LENGTH),
  changedAt: new Uint32Array(FIRST_LENGTH),
  state: new Uint8Array(FIRST_LENGTH),
  sector: new Uint8Array(FIRST_LENGTH),
  score: new Uint8Array(FIRST_LENGTH),
  posture: new Uint32Array(FIRST_LENGTH),
  holders: new Uint32Array(FIRST_LENGTH),
  country: new Uint16Array(FIRST_LENGTH),
  starts: new Uint32Array(FIRST_LENGTH),
  counts: new Uint8Array(FIRST_LENGTH),
  buildCounts: new Uint8Array(FIRST_LENGTH),
  pool: new Uint32Array(0),
});

export class DomainColumns {
  #columns: FactColumns;
  #pool: Uint32Array<ArrayBuffer>;
  #used: number;
  #wasted = 0;

  /** Takes ownership of the arrays. */
  constructor({ pool, ...columns } = noDomains()) {
    this.#columns = columns;
    this.#pool = pool;
    this.#used = pool.length;
  }

  facts(domain: number): DomainFacts {
    const { scannedAt, firstSeen, changedAt, state, sector, posture, holders, country } = this.#columns;
    return {
      scannedAt: scannedAt[domain] as number,
      firstSeen: (firstSeen[domain] as number) * SECOND_MS,
      changedAt: (changedAt[domain] as number) * SECOND_MS,
      state: state[domain] as number,
      sector: sector[domain] as number,
      posture: posture[domain] as number,
      holders: holders[domain] as number,
      country: country[domain] as number,
      score: this.score(domain),
    };
  }

  score(domain: number): number | null {
    const score = this.#columns.score[domain] as number;
    return score === NO_SCORE ? null : score;
  }

  /** The column of a time, for loops over every domain; 0: never. */
  timesOf(kind: TimeKind): { readonly column: Float64Array | Uint32Array; readonly unitMs: number } {
    const { scannedAt, firstSeen, changedAt } = this.#columns;
    if (kind === 'scanned_at') return { column: scannedAt, unitMs: 1 };
    return { column: kind === 'first_seen' ? firstSeen : changedAt, unitMs: SECOND_MS };
  }

  /** A view that is valid until the domain is set again. */
  services(domain: number): Uint32Array {
    const { pool, from, to } = this.servicesIn(domain);
    return pool.subarray(from, to);
  }

  /** The same as offsets, for loops over every domain. */
  servicesIn(domain: number): { readonly pool: Uint32Array; readonly from: number; readonly to: number } {
    const from = this.#columns.starts[domain] as number;
    return { pool: this.#pool, from, to: from + (this.#columns.counts[domain] as number) };
  }

  /** Offsets of the numbers of its builds. */
  buildsIn(domain: number): { readonly pool: Uint32Array; readonly from: number; readonly to: number } {
    const { starts, counts, buildCounts } = this.#columns;
    const from = (starts[domain] as number) + (counts[domain] as number);
    return { pool: this.#pool, from, to: from + (buildCounts[domain] as number) };
  }

  /** The times of the last scan and change never decrease. */
  touch(domain: number, kind: Exclude<TimeKind, 'first_seen'>, time: number): void {
    const { column, unitMs } = this.timesOf(kind);
    column[domain] = Math.max(column[domain] as number, Math.floor(time / unitMs));
  }

  set(domain: number, facts: DomainFacts, services: readonly PackedService[], builds: readonly number[] = []): void {
    if (domain >= this.#columns.state.length) this.#columns = mapped(this.#columns, (each) => grown(each, domain + 1));
    const { scannedAt, firstSeen, changedAt, state, sector, posture, holders, country } = this.#columns;
    const { score, starts, counts, buildCounts } = this.#columns;
    scannedAt[domain] = facts.scannedAt;
    firstSeen[domain] = Math.floor(facts.firstSeen / SECOND_MS);
    changedAt[domain] = Math.floor(facts.changedAt / SECOND_MS);
    state[domain] = facts.state;
    sector[domain] = facts.sector;
    posture[domain] = facts.posture;
    holders[domain] = facts.holders;
    country[domain] = facts.country;
    score[domain] = facts.score ?? NO_SCORE;
    const before = this.#lengthOf(domain);
    const length = services.length + builds.length;
    if (length > before) {
      if (this.#used + length > this.#pool.length) this.#pool = grown(this.#pool, this.#used + length);
      starts[domain] = this.#used;
      this.#used += length;
      this.#wasted += before;
    } else this.#wasted += before - length;
    counts[domain] = services.length;
    buildCounts[domain] = builds.length;
    // The start of a domain without services means nothing, and may be outside of a compacted pool.
    if (services.length > 0) this.#pool.set(services, starts[domain] as number);
    if (builds.length > 0) this.#pool.set(builds, (starts[domain] as number) + services.length);
    if (this.#wasted > MIN_WASTE && this.#wasted * 2 > this.#used) this.#compact();
  }

  /** The domains below `limit`, as views that are valid until the next change. */
  arrays(limit: number): ColumnArrays {
    this.#compact();
    const columns = mapped(this.#columns, (each) => each.subarray(0, limit) as typeof each);
    return { ...columns, pool: this.#pool.subarray(0, this.#used) };
  }

  #lengthOf(domain: number): number {
    const { counts, buildCounts } = this.#columns;
    return (counts[domain] as number) + (buildCounts[domain] as number);
  }

  #compact(): void {
    if (this.#wasted === 0) return;
    const { starts } = this.#columns;
    const pool = new Uint32Array(this.#used - this.#wasted);
    let used = 0;
    for (let domain = 0; domain < starts.length; domain += 1) {
      const count = this.#lengthOf(domain);
      if (count === 0) continue;
      const start = starts[domain] as number;
      starts[domain] = used;
      // A view for each of a million domains would take longer than the copy.
      for (let at = start; at < start + count; at += 1) pool[used++] = this.#pool[at] as number;
    }
    this.#pool = pool;
    this.#used = used;
    this.#wasted = 0;
  }
}

/** Changes every column in the same way. */
function mapped(
  columns: FactColumns,
  change: <Column extends FactColumns[keyof FactColumns]>(column: Column) => Column,
) {
  return {
    scannedAt: change(columns.scannedAt),
    firstSeen: change(columns.firstSeen),
    changedAt: change(columns.changedAt),
    state: change(columns.state),
    sector: change(columns.sector),
    score: change(columns.score),
    posture: change(columns.posture),
    holders: change(columns.holders),
    country: change(columns.country),
    starts: change(columns.starts),
    counts: change(columns.counts),
    buildCounts: change(columns.buildCounts),
  };
}
