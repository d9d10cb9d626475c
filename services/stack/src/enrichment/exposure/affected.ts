// Lists over all exposures: advisories that possibly affect any domain, and the domains of each.
import { byUrgency, type Entry, type ExposureIndex, type RowCounts, type Severity } from '@strata/advisories';
import { type DomainIndex, type DomainSet, difference, inNameOrder, type Page, union } from '@strata/analytics';
import { EventLoopBudget } from '../event-loop-budget.ts';
import { type ByEvidence, domainsOf } from './exposed-domains.ts';
import type { Exposure, Exposures } from './exposures.ts';
import { NO_VERSION } from './product-uses.ts';

/** All given conditions must hold. */
interface EntryFilter {
  readonly severity?: Severity | undefined;
  readonly isExploited?: boolean | undefined;
}

export interface AffectedFilter extends EntryFilter {
  readonly match?: 'version' | 'product' | undefined;
  /** Any id of an advisory, case-insensitive. */
  readonly advisory?: string | undefined;
  readonly domain?: string | undefined;
}

/** The position of an advisory in a list. */
export type AdvisoryKey = readonly [urgency: number, id: string];
/** The position of a row: its advisory, whether the version is affected, its product and the name of its domain. */
export type AffectedKey = readonly [...AdvisoryKey, match: 'version' | 'product', product: string, domain: string];

export interface AffectedRow extends Exposure {
  readonly domain: number;
}

export interface Affected {
  /** Number of matching rows. */
  readonly total: number;
  /** Number of domains in these rows; one with both kinds is counted in `version`. */
  readonly domains: ByEvidence<number>;
  readonly rows: readonly AffectedRow[];
}

const KINDS = ['version', 'product'] as const;

interface Deps {
  readonly exposures: Exposures;
  readonly index: DomainIndex;
}

/** Advisories that possibly affect any domain, most urgent first. */
export async function listAdvisories(
  deps: Deps,
  filter: Pick<AffectedFilter, keyof EntryFilter | 'advisory'>,
  { limit, offset, after }: Page<AdvisoryKey>,
): Promise<{ readonly total: number; readonly entries: readonly Entry[] }> {
  const { rows } = await countRows(deps, filter);
  const matching = deps.exposures.advisories.inOrder().filter(({ number }) => rowsOf(rows, number) > 0);
  const rest = after ? matching.filter((entry) => compareTo(entry, after) > 0) : matching;
  return { total: matching.length, entries: rest.slice(offset, offset + limit) };
}

/** Most urgent advisories first; within an advisory affected domains first, by product, then by name. */
export async function listAffected(deps: Deps, filter: AffectedFilter, page: Page<AffectedKey>): Promise<Affected> {
  return filter.domain === undefined ? affectedOfAll(deps, filter, page) : affectedOfOne(deps, filter, page);
}

function affectedOfOne({ exposures, index }: Deps, filter: AffectedFilter, page: Page<AffectedKey>): Affected {
  const { limit, offset, after } = page;
  const domain = filter.domain === undefined ? undefined : index.names.sorted.find(filter.domain);
  const requested = requestedBy(exposures, filter);
  const matchesFilter = ({ entry, isAffected }: Exposure) =>
    fits(entry, filter) &&
    (filter.match === undefined || (filter.match === 'version') === isAffected) &&
    (requested === undefined || requested.has(entry.number));
  const all = domain === undefined ? [] : exposures.ofDomain(domain).filter(matchesFilter);
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
    rows: (after ? ordered.filter((each) => isPast(each, after)) : ordered)
      .slice(offset, offset + limit)
      .map((each) => ({ ...each, domain: domain ?? 0 })),
  };
}

async function affectedOfAll(deps: Deps, filter: AffectedFilter, page: Page<AffectedKey>): Promise<Affected> {
  const { limit, offset, after } = page;
  const { advisories } = deps.exposures;
  const { rows, sets } = await countRows(deps, filter);
  const found: AffectedRow[] = [];
  let total = 0;
  for (const entry of advisories.inOrder()) {
    const count = rowsOf(rows, entry.number);
    // Names are resolved only for the rows of the page.
    const order = after ? compareTo(entry, after) : 1;
    if (count > 0 && total + count > offset && found.length < limit && order >= 0) {
      const rest = { offset: Math.max(0, offset - total), limit: limit - found.length };
      found.push(...rowsOfEntry(deps, entry, filter, { ...rest, ...(after && order === 0 && { after }) }));
    }
    total += count;
  }
  const version = union(sets.version);
  const product = difference(union(sets.product), version);
  return { total, domains: { version: version.size, product: product.size }, rows: found };
}

/** The number of rows of each advisory, in one pass over the verdicts of every observed build. */
async function countRows({ exposures }: Deps, filter: Omit<AffectedFilter, 'domain'>) {
  const { match } = filter;
  const { advisories } = exposures;
  const rows: RowCounts = { version: new Uint32Array(advisories.limit), product: new Uint32Array(advisories.limit) };
  const sets = { version: [] as DomainSet[], product: [] as DomainSet[] };
  const requested = requestedBy(exposures, filter);
  if (requested === undefined) {
    const of = numbersFitting(advisories, filter);
    const budget = new EventLoopBudget();
    for (const product of advisories.products) {
      await budget.yieldIfSpent();
      for (const { build, domains } of exposures.usesOf(product)) {
        const has = advisories.verdictsOf(product, build).countInto(rows, domains.size, of);
        if (has.hasVersion) sets.version.push(domains);
        if (has.hasProduct) sets.product.push(domains);
      }
    }
  } else {
    for (const entry of requested.values()) {
      if (fits(entry, filter)) countEntry(exposures, entry, { rows, sets });
    }
  }
  for (const kind of KINDS) {
    if (match === undefined || match === kind) continue;
    rows[kind].fill(0);
    sets[kind] = [];
  }
  return { rows, sets };
}

function fits({ advisory, exploited }: Entry, { severity, isExploited }: EntryFilter): boolean {
  return (
    (severity === undefined || advisory.severity === severity) &&
    (isExploited === undefined || (exploited !== null) === isExploited)
  );
}

/** By number of the advisory: 1 if it fits; undefined if all do. */
function numbersFitting(advisories: ExposureIndex, filter: EntryFilter): Uint8Array | undefined {
  if (filter.severity === undefined && filter.isExploited === undefined) return undefined;
  const fitting = new Uint8Array(advisories.limit);
  for (const entry of advisories.inOrder()) if (fits(entry, filter)) fitting[entry.number] = 1;
  return fitting;
}

/** A domain with two products of an advisory has two rows. */
function countEntry(
  exposures: Exposures,
  entry: Entry,
  { rows, sets }: { readonly rows: RowCounts; readonly sets: ByEvidence<DomainSet[]> },
): void {
  for (const product of entry.products) {
    const of = domainsOf(exposures, entry, [product]);
    for (const kind of KINDS) {
      rows[kind][entry.number] = (rows[kind][entry.number] as number) + of[kind].size;
      sets[kind].push(of[kind]);
    }
  }
}

function rowsOfEntry(
  { exposures, index }: Deps,
  entry: Entry,
  { match }: AffectedFilter,
  { limit, offset, after }: Page<AffectedKey>,
): AffectedRow[] {
  const found: AffectedRow[] = [];
  let skip = offset;
  for (const kind of KINDS) {
    if (match && kind !== match) continue;
    for (const product of entry.products) {
      const position = after ? positionOf(entry, kind, product) - positionOf(entry, after[2], after[3]) : 1;
      if (position < 0) continue;
      const set = domainsOf(exposures, entry, [product])[kind];
      const rest = { offset: skip, limit: limit - found.length, ...(after && position === 0 && { after: after[4] }) };
      const page = inNameOrder(index, set, rest);
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

/** The key of a row; the name of its domain is not in the row. */
export const affectedKey = ({ entry, isAffected, product }: Exposure, domain: string): AffectedKey => [
  ...advisoryKey(entry),
  isAffected ? 'version' : 'product',
  product,
  domain,
];

export const advisoryKey = ({ urgency, advisory }: Entry): AdvisoryKey => [urgency, advisory.id];

/** Negative for an entry before the key in the order of lists, 0 for the entry of the key. */
function compareTo(entry: Entry, [urgency, id]: readonly [number, string, ...unknown[]]): number {
  return urgency - entry.urgency || (entry.advisory.id < id ? -1 : Number(entry.advisory.id > id));
}

/** The position of a kind and a product within the rows of an entry. */
const positionOf = ({ products }: Entry, kind: (typeof KINDS)[number], product: string): number =>
  KINDS.indexOf(kind) * products.length + products.indexOf(product);

/** Of the rows of one domain. */
function isPast({ entry, isAffected, product }: Exposure, after: AffectedKey): boolean {
  const order = compareTo(entry, after);
  const position =
    positionOf(entry, isAffected ? 'version' : 'product', product) - positionOf(entry, after[2], after[3]);
  return order > 0 || (order === 0 && position > 0);
}

const rowsOf = ({ version, product }: RowCounts, number: number): number =>
  (version[number] ?? 0) + (product[number] ?? 0);

/** The requested advisories by number; undefined: all. */
function requestedBy({ advisories }: Exposures, { advisory }: AffectedFilter): ReadonlyMap<number, Entry> | undefined {
  return advisory === undefined ? undefined : new Map(advisories.named(advisory).map((entry) => [entry.number, entry]));
}
