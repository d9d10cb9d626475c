// Lists over everything that is exposed: advisories that concern any domain, and the domains that each concerns.
import { byUrgency, type Entry, isAffected, type Severity } from '@strata/advisories';
import { type DomainIndex, type DomainSet, inNameOrder } from '@strata/analytics';
import type { Exposure, Exposures } from './exposures.ts';
import { NO_VERSION, unionOf } from './product-uses.ts';

export interface AffectedFilter {
  readonly severity?: Severity | undefined;
  readonly match?: 'version' | 'product' | undefined;
  /** Any id of an advisory, in any case. */
  readonly advisory?: string | undefined;
  readonly domain?: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface AffectedRow extends Exposure {
  /** Number of the domain. */
  readonly domain: number;
}

export interface Affected {
  /** Rows that match. */
  readonly total: number;
  /** Domains in these rows; one with both is counted in `version`. */
  readonly domains: { readonly version: number; readonly product: number };
  readonly rows: readonly AffectedRow[];
}

interface Parts {
  readonly exposures: Exposures;
  readonly index: DomainIndex;
}

/** How many rows each advisory has, by its number. */
interface Rows {
  readonly version: Uint32Array;
  readonly product: Uint32Array;
}

/** Advisories that concern any domain, the most urgent first. */
export function listAdvisories(
  { exposures }: Parts,
  { severity }: Pick<AffectedFilter, 'severity'>,
  { limit, offset }: Page,
): { readonly total: number; readonly entries: readonly Entry[] } {
  const { rows } = countRows(exposures, { severity });
  const concerned = exposures.advisories.inOrder().filter(({ number }) => rowsOf(rows, number) > 0);
  return { total: concerned.length, entries: concerned.slice(offset, offset + limit) };
}

/** The most urgent advisories first; within one the affected before the others, by product, then by name. */
export function listAffected(parts: Parts, filter: AffectedFilter, page: Page): Affected {
  return filter.domain === undefined ? affectedOfAll(parts, filter, page) : affectedOfOne(parts, filter, page);
}

function affectedOfOne({ exposures, index }: Parts, filter: AffectedFilter, { limit, offset }: Page): Affected {
  const domain = filter.domain === undefined ? undefined : index.names.find(filter.domain);
  const meant = meantBy(exposures, filter);
  const isMeant = ({ entry, isAffected }: Exposure) =>
    (filter.severity === undefined || entry.advisory.severity === filter.severity) &&
    (filter.match === undefined || (filter.match === 'version') === isAffected) &&
    (meant === undefined || meant.has(entry.number));
  const all = domain === undefined ? [] : exposures.ofDomain(domain).filter(isMeant);
  const ordered = all.toSorted(
    (a, b) =>
      byUrgency(a.entry, b.entry) ||
      Number(b.isAffected) - Number(a.isAffected) ||
      a.entry.products.indexOf(a.product) - b.entry.products.indexOf(b.product),
  );
  const hasVersion = all.some((each) => each.isAffected);
  return {
    total: all.length,
    domains: { version: Number(hasVersion), product: Number(!hasVersion && all.length > 0) },
    rows: ordered.slice(offset, offset + limit).map((each) => ({ ...each, domain: domain ?? 0 })),
  };
}

function affectedOfAll(parts: Parts, filter: AffectedFilter, { limit, offset }: Page): Affected {
  const { advisories } = parts.exposures;
  const { rows, domains } = countRows(parts.exposures, filter);
  const found: AffectedRow[] = [];
  let total = 0;
  for (const entry of advisories.inOrder()) {
    const count = rowsOf(rows, entry.number);
    // Only of those that reach into the page the domains are named.
    if (count > 0 && total + count > offset && found.length < limit) {
      const skip = Math.max(0, offset - total);
      found.push(...rowsOfEntry(parts, entry, filter, { offset: skip, limit: limit - found.length }));
    }
    total += count;
  }
  return { total, domains, rows: found };
}

/** One walk over what advisories say of every build that some domain shows. */
function countRows(exposures: Exposures, filter: Omit<AffectedFilter, 'domain'>) {
  const { severity, match } = filter;
  const { advisories } = exposures;
  const rows: Rows = {
    version: new Uint32Array(advisories.limit),
    product: new Uint32Array(advisories.limit),
  };
  const meant = meantBy(exposures, filter);
  const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
  const products = meant && new Set([...meant.values()].flatMap((entry) => entry.products));
  for (const product of products ?? advisories.products) {
    for (const { build, domains } of exposures.usesOf(product)) {
      const verdicts = advisories.verdictsOf(product, build);
      const has = { version: false, product: false };
      for (let place = 0; place < verdicts.length; place += 1) {
        const number = verdicts.numberAt(place);
        if (meant && !meant.has(number)) continue;
        if (severity && !advisories.isOfSeverity(number, severity)) continue;
        const kind = isAffected(verdicts.codeAt(place)) ? 'version' : 'product';
        if (match && kind !== match) continue;
        rows[kind][number] = (rows[kind][number] ?? 0) + domains.size;
        has[kind] = true;
      }
      if (has.version) sets.version.push(domains);
      if (has.product) sets.product.push(domains);
    }
  }
  const version = unionOf(sets.version);
  return { rows, domains: { version: version.size, product: unionOf(sets.product).andNot(version).size } };
}

function rowsOfEntry(
  { exposures, index }: Parts,
  entry: Entry,
  { match }: AffectedFilter,
  { limit, offset }: Page,
): AffectedRow[] {
  const found: AffectedRow[] = [];
  let skip = offset;
  for (const kind of ['version', 'product'] as const) {
    if (match && kind !== match) continue;
    for (const product of entry.products) {
      const set = exposures.domainsOf(entry, [product])[kind];
      const page = inNameOrder(index, set, { offset: skip, limit: limit - found.length });
      for (const domain of page) {
        const build = index.buildOf(domain, product) ?? NO_VERSION;
        found.push({ entry, product, build, isAffected: kind === 'version', domain });
      }
      skip = Math.max(0, skip - set.size);
      if (found.length >= limit) return found;
    }
  }
  return found;
}

const rowsOf = ({ version, product }: Rows, number: number): number => (version[number] ?? 0) + (product[number] ?? 0);

/** The advisories that are asked for, by their numbers; undefined: all. */
function meantBy({ advisories }: Exposures, { advisory }: AffectedFilter): ReadonlyMap<number, Entry> | undefined {
  return advisory === undefined ? undefined : new Map(advisories.named(advisory).map((entry) => [entry.number, entry]));
}
