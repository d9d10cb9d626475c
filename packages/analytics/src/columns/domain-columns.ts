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
  readonly state: number;
  readonly sector: number;
  readonly posture: number;
  readonly holders: number;
  /** 0–100, or null. */
  readonly score: number | null;
}

/** The stored value of an unknown score. */
export const NO_SCORE = 255;

/** With less waste than this the pool is not compacted. */
const MIN_WASTE = 1 << 16;

export interface ColumnArrays {
  readonly scannedAt: Float64Array<ArrayBuffer>;
  readonly state: Uint8Array<ArrayBuffer>;
  readonly sector: Uint8Array<ArrayBuffer>;
  readonly score: Uint8Array<ArrayBuffer>;
  readonly posture: Uint32Array<ArrayBuffer>;
  readonly holders: Uint32Array<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
  /** Services in the pool, and builds after them. */
  readonly counts: Uint8Array<ArrayBuffer>;
  readonly buildCounts: Uint8Array<ArrayBuffer>;
  readonly pool: Uint32Array<ArrayBuffer>;
}

export class DomainColumns {
  #scannedAt = new Float64Array(1 << 10);
  #state = new Uint8Array(1 << 10);
  #sector = new Uint8Array(1 << 10);
  #score = new Uint8Array(1 << 10);
  #posture = new Uint32Array(1 << 10);
  #holders = new Uint32Array(1 << 10);
  #starts = new Uint32Array(1 << 10);
  #counts = new Uint8Array(1 << 10);
  #buildCounts = new Uint8Array(1 << 10);
  #pool = new Uint32Array(1 << 12);
  #used = 0;
  #wasted = 0;

  facts(domain: number): DomainFacts {
    const score = this.score(domain);
    return {
      scannedAt: this.#scannedAt[domain] as number,
      state: this.#state[domain] as number,
      sector: this.#sector[domain] as number,
      posture: this.#posture[domain] as number,
      holders: this.#holders[domain] as number,
      score: score === NO_SCORE ? null : score,
    };
  }

  state(domain: number): number {
    return this.#state[domain] as number;
  }

  /** 0–100, or `NO_SCORE`. */
  score(domain: number): number {
    return this.#score[domain] as number;
  }

  sector(domain: number): number {
    return this.#sector[domain] as number;
  }

  posture(domain: number): number {
    return this.#posture[domain] as number;
  }

  scannedAt(domain: number): number {
    return this.#scannedAt[domain] as number;
  }

  /** A view that is valid until the domain is set again. */
  services(domain: number): Uint32Array {
    const start = this.#starts[domain] as number;
    return this.#pool.subarray(start, start + (this.#counts[domain] as number));
  }

  /** The same as offsets, for loops over every domain. */
  servicesIn(domain: number): { readonly pool: Uint32Array; readonly from: number; readonly to: number } {
    const from = this.#starts[domain] as number;
    return { pool: this.#pool, from, to: from + (this.#counts[domain] as number) };
  }

  /** Offsets of the numbers of its builds. */
  buildsIn(domain: number): { readonly pool: Uint32Array; readonly from: number; readonly to: number } {
    const from = (this.#starts[domain] as number) + (this.#counts[domain] as number);
    return { pool: this.#pool, from, to: from + (this.#buildCounts[domain] as number) };
  }

  touch(domain: number, scannedAt: number): void {
    if (scannedAt > this.scannedAt(domain)) this.#scannedAt[domain] = scannedAt;
  }

  set(domain: number, facts: DomainFacts, services: readonly PackedService[], builds: readonly number[] = []): void {
    if (domain >= this.#state.length) this.#grow(domain + 1);
    this.#scannedAt[domain] = facts.scannedAt;
    this.#state[domain] = facts.state;
    this.#sector[domain] = facts.sector;
    this.#posture[domain] = facts.posture;
    this.#holders[domain] = facts.holders;
    this.#score[domain] = facts.score ?? NO_SCORE;
    const before = this.#lengthOf(domain);
    const length = services.length + builds.length;
    if (length > before) {
      if (this.#used + length > this.#pool.length) this.#pool = grown(this.#pool, this.#used + length);
      this.#starts[domain] = this.#used;
      this.#used += length;
      this.#wasted += before;
    } else this.#wasted += before - length;
    this.#counts[domain] = services.length;
    this.#buildCounts[domain] = builds.length;
    // The start of a domain without services means nothing, and may be outside of a compacted pool.
    if (services.length > 0) this.#pool.set(services, this.#starts[domain] as number);
    if (builds.length > 0) this.#pool.set(builds, (this.#starts[domain] as number) + services.length);
    if (this.#wasted > MIN_WASTE && this.#wasted * 2 > this.#used) this.#compact();
  }

  /** The domains below `limit`, as views that are valid until the next change. */
  arrays(limit: number): ColumnArrays {
    this.#compact();
    return {
      scannedAt: this.#scannedAt.subarray(0, limit),
      state: this.#state.subarray(0, limit),
      sector: this.#sector.subarray(0, limit),
      score: this.#score.subarray(0, limit),
      posture: this.#posture.subarray(0, limit),
      holders: this.#holders.subarray(0, limit),
      starts: this.#starts.subarray(0, limit),
      counts: this.#counts.subarray(0, limit),
      buildCounts: this.#buildCounts.subarray(0, limit),
      pool: this.#pool.subarray(0, this.#used),
    };
  }

  /** Takes ownership of the arrays. */
  static from(arrays: ColumnArrays): DomainColumns {
    const columns = new DomainColumns();
    columns.#scannedAt = arrays.scannedAt;
    columns.#state = arrays.state;
    columns.#sector = arrays.sector;
    columns.#score = arrays.score;
    columns.#posture = arrays.posture;
    columns.#holders = arrays.holders;
    columns.#starts = arrays.starts;
    columns.#counts = arrays.counts;
    columns.#buildCounts = arrays.buildCounts;
    columns.#pool = arrays.pool;
    columns.#used = arrays.pool.length;
    return columns;
  }

  #lengthOf(domain: number): number {
    return (this.#counts[domain] as number) + (this.#buildCounts[domain] as number);
  }

  #compact(): void {
    if (this.#wasted === 0) return;
    const pool = new Uint32Array(this.#used - this.#wasted);
    let used = 0;
    for (let domain = 0; domain < this.#counts.length; domain += 1) {
      const count = this.#lengthOf(domain);
      if (count === 0) continue;
      const start = this.#starts[domain] as number;
      this.#starts[domain] = used;
      // A view for each of a million domains would take longer than the copy.
      for (let at = start; at < start + count; at += 1) pool[used++] = this.#pool[at] as number;
    }
    this.#pool = pool;
    this.#used = used;
    this.#wasted = 0;
  }

  #grow(min: number): void {
    this.#scannedAt = grown(this.#scannedAt, min);
    this.#state = grown(this.#state, min);
    this.#sector = grown(this.#sector, min);
    this.#score = grown(this.#score, min);
    this.#posture = grown(this.#posture, min);
    this.#holders = grown(this.#holders, min);
    this.#starts = grown(this.#starts, min);
    this.#counts = grown(this.#counts, min);
    this.#buildCounts = grown(this.#buildCounts, min);
  }
}
