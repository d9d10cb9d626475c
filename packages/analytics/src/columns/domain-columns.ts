// The data of each domain except its name, by domain number: facts of one value each, and its services followed by the
// numbers of its builds.
import { DomainSet } from '../sets/domain-set.ts';
import { ColumnPage, type TimeKind } from './column-page.ts';
import { PAGE_SIZE, Pages, pageOf, rowOf } from './pages.ts';

/** A service as it is stored: placement (provider in a category) and confidence in one word. */
export type PackedService = number;

export const packService = (placement: number, level: number): PackedService => placement * 4 + level;
export const placementOf = (service: PackedService): number => service >>> 2;
/** Index of its confidence in `LEVELS`. */
export const levelOf = (service: PackedService): number => service & 3;

/** The maximum of services of one domain. */
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

/** The stored value of an unknown score. */
export const NO_SCORE = 255;

/** Values of a domain: those of `pool` from `from` to `to`, exclusive; valid until the domain is set again. */
export interface PoolRange {
  readonly pool: Uint8Array | Uint16Array | Uint32Array;
  readonly from: number;
  readonly to: number;
}

const NO_PAGE = new ColumnPage();

export class DomainColumns {
  readonly pages = new Pages(() => new ColumnPage());

  /** The page of a domain, which holds it at `rowOf`; must not be changed. */
  page(domain: number): ColumnPage {
    return this.pages.at(pageOf(domain)) ?? NO_PAGE;
  }

  facts(domain: number): DomainFacts {
    const page = this.page(domain);
    const row = rowOf(domain);
    const score = page.score.get(row);
    return {
      scannedAt: page.time(row, 'scanned_at'),
      firstSeen: page.time(row, 'first_seen'),
      changedAt: page.time(row, 'changed_at'),
      state: page.state.get(row),
      sector: page.sector.get(row),
      posture: page.posture.get(row),
      holders: page.holders.get(row),
      country: page.country.get(row),
      score: score === NO_SCORE ? null : score,
    };
  }

  /** The numbers with a time from `from` to `to`, inclusive, those without domains included; 0 is the time of what has not happened. */
  between(kind: TimeKind, from: number, to: number): DomainSet {
    const bits = new Uint32Array((this.pages.count * PAGE_SIZE) / 32);
    let size = 0;
    for (let page = 0; page < this.pages.count; page += 1)
      size += this.pages.at(page)?.markBetween(kind, [from, to], bits.subarray((page * PAGE_SIZE) / 32)) ?? 0;
    return new DomainSet({ bits, size });
  }

  /** A view that is valid until the domain is set again. */
  services(domain: number): Uint8Array | Uint16Array | Uint32Array {
    const { pool, from, to } = this.servicesIn(domain);
    return pool.subarray(from, to);
  }

  /** The same as offsets, for loops over every domain. */
  servicesIn(domain: number): PoolRange {
    const { services, buildCounts } = this.page(domain);
    const row = rowOf(domain);
    return { pool: services.values, from: services.from(row), to: services.to(row) - buildCounts.get(row) };
  }

  /** The numbers of its builds. */
  buildsIn(domain: number): PoolRange {
    const { services, buildCounts } = this.page(domain);
    const to = services.to(rowOf(domain));
    return { pool: services.values, from: to - buildCounts.get(rowOf(domain)), to };
  }

  /** The times of the last scan and change never decrease. */
  touch(domain: number, kind: Exclude<TimeKind, 'first_seen'>, time: number): void {
    const page = this.pages.own(pageOf(domain));
    const row = rowOf(domain);
    page.setTime(row, kind, Math.max(page.time(row, kind), time));
  }

  set(domain: number, facts: DomainFacts, services: readonly PackedService[], builds: readonly number[] = []): void {
    const page = this.pages.own(pageOf(domain));
    const row = rowOf(domain);
    page.setTime(row, 'scanned_at', facts.scannedAt);
    page.setTime(row, 'first_seen', facts.firstSeen);
    page.setTime(row, 'changed_at', facts.changedAt);
    page.state.set(row, facts.state);
    page.sector.set(row, facts.sector);
    page.posture.set(row, facts.posture);
    page.holders.set(row, facts.holders);
    page.country.set(row, facts.country);
    page.score.set(row, facts.score ?? NO_SCORE);
    page.services.set(row, builds.length === 0 ? services : [...services, ...builds]);
    page.buildCounts.set(row, builds.length);
  }

  /** Removes services and builds; with the last domain of a page, the page. */
  remove(domain: number, { isLastOfPage }: { readonly isLastOfPage: boolean }): void {
    if (isLastOfPage) {
      this.pages.drop(pageOf(domain));
      return;
    }
    const page = this.pages.own(pageOf(domain));
    page.services.set(rowOf(domain), []);
    page.buildCounts.set(rowOf(domain), 0);
  }

  /** Bytes by part. */
  get memory(): Readonly<Record<string, number>> {
    return {
      'columns of facts': this.pages.reduce((page) => page.byteLength),
      'services and builds': this.pages.reduce((page) => page.services.byteLength),
    };
  }
}
