// Lists over everything that is exposed: advisories that concern any domain, and the domains that each concerns.
import { type Entry, isAffected, type Severity } from '@strata/advisories';
import { type DomainIndex, type DomainSet, inNameOrder } from '@strata/analytics';
import type { Exposure, Exposures } from './exposures.ts';
import { NO_VERSION, unionOf } from './product-uses.ts';

export interface AffectedFilter {
  readonly severity?: Severity | undefined;
  readonly match?: 'version' | 'product' | undefined;
  /** Id of an advisory, in any case. */
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
  parts: Parts,
  { severity }: Pick<AffectedFilter, 'severity'>,
  { limit, offset }: Page,
): { readonly total: number; readonly entries: readonly Entry[] } {
  const { rows } = countRows(parts, { severity });
  const concerned = parts.exposures.advisories.inOrder().filter(({ number }) => rowsOf(rows, number) > 0);
  return { total: concerned.length, entries: concerned.slice(offset, offset + limit) };
}

/** The most urgent advisories first; within one the affected before the others, by product, then by name. */
export function listAffected(parts: Parts, filter: AffectedFilter, page: Page): Affected {
  return filter.domain === undefined ? affectedOfAll(parts, filter, page) : affectedOfOne(parts, filter, page);
}

function affectedOfOne({ exposures, index }: Parts, filter: AffectedFilter, { limit, offset }: Page): Affected {
  const domain = filter.domain === undefined ? undefined : index.names.find(filter.domain);
  const all = domain === undefined ? [] : exposures.ofDomain(domain).filter((each) => isMeant(each, filter));
  const ordered = all.toSorted(
    (a, b) => b.entry.urgency - a.entry.urgency || Number(b.isAffected) - Number(a.isAffected),
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
  const { rows, domains } = countRows(parts, filter);
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
function countRows({ exposures, index }: Parts, { severity, match, advisory }: AffectedFilter) {
  const { advisories } = exposures;
  const rows: Rows = {
    version: new Uint32Array(advisories.limit),
    product: new Uint32Array(advisories.limit),
  };
  const only =
    advisory === undefined ? undefined : (advisories.find(advisory.toUpperCase()) ?? advisories.find(advisory));
  const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
  if (advisory !== undefined && !only) return { rows, domains: { version: 0, product: 0 } };
  for (const product of only?.products ?? advisories.products) {
    for (const { build, domains } of exposures.usesOf(product)) {
      const verdicts = advisories.verdictsOf(product, build);
      const has = { version: false, product: false };
      for (let place = 0; place < verdicts.length; place += 1) {
        const number = verdicts.numberAt(place);
        if (only && number !== only.number) continue;
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
  const { limit } = index.names;
  const version = unionOf(sets.version, limit);
  return { rows, domains: { version: version.size, product: unionOf(sets.product, limit).andNot(version).size } };
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

const isMeant = ({ entry, isAffected }: Exposure, { severity, match, advisory }: AffectedFilter): boolean =>
  (severity === undefined || entry.advisory.severity === severity) &&
  (match === undefined || (match === 'version') === isAffected) &&
  (advisory === undefined || entry.advisory.id.toUpperCase() === advisory.toUpperCase());
