// Lists over all exposures: advisories that possibly affect any domain, and the domains of each.
import { byUrgency, type Entry, type ExposureIndex, type RowCounts, type Severity } from '@strata/advisories';
import type { BuildCount, DomainRow, Page, Search } from '@strata/analytics';
import type { Store } from '../../store/index.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import { type ByEvidence, buildsNamedBy, countsIn, type ExposedDeps, sumOf } from './exposed-domains.ts';
import type { Exposure, Exposures, Uses } from './exposures.ts';
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
  readonly domain: string;
}

export interface Affected {
  /** Number of matching rows. */
  readonly total: number;
  /** Number of domains in these rows; one with both kinds is counted in `version`. */
  readonly domains: ByEvidence<number>;
  readonly rows: readonly AffectedRow[];
  /** Whether the requested domain has been scanned; null for all domains. */
  readonly isKnown: boolean | null;
}

const KINDS = ['version', 'product'] as const;

interface Deps extends ExposedDeps {
  readonly store: Pick<Store, 'domains'>;
}

/** Advisories that possibly affect any domain, most urgent first. */
export async function listAdvisories(
  deps: Deps,
  filter: Pick<AffectedFilter, keyof EntryFilter | 'advisory'>,
  { limit, offset, after }: Page<AdvisoryKey>,
): Promise<{ readonly total: number; readonly entries: readonly Entry[] }> {
  const { rows } = await countRows(deps, filter, await deps.exposures.uses());
  const matching = deps.exposures.advisories.inOrder().filter(({ number }) => rowsOf(rows, number) > 0);
  const rest = after ? matching.filter((entry) => compareTo(entry, after) > 0) : matching;
  return { total: matching.length, entries: rest.slice(offset, offset + limit) };
}

/** Most urgent advisories first; within an advisory affected domains first, by product, then by name. */
export async function listAffected(deps: Deps, filter: AffectedFilter, page: Page<AffectedKey>): Promise<Affected> {
  const { domain } = filter;
  return domain === undefined ? affectedOfAll(deps, filter, page) : affectedOfOne(deps, { ...filter, domain }, page);
}

async function affectedOfOne(
  { exposures, store }: Deps,
  filter: AffectedFilter & { readonly domain: string },
  page: Page<AffectedKey>,
): Promise<Affected> {
  const { limit, offset, after } = page;
  const { domain } = filter;
  const profile = await store.domains.profile(domain);
  const requested = requestedBy(exposures, filter);
  const matchesFilter = ({ entry, isAffected }: Exposure) =>
    fits(entry, filter) &&
    (filter.match === undefined || (filter.match === 'version') === isAffected) &&
    (requested === undefined || requested.has(entry.number));
  const all = profile ? exposures.ofServices(profile.services).filter(matchesFilter) : [];
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
      .map((each) => ({ ...each, domain })),
    isKnown: profile !== undefined,
  };
}

async function affectedOfAll(deps: Deps, filter: AffectedFilter, page: Page<AffectedKey>): Promise<Affected> {
  const { limit, offset, after } = page;
  const { advisories } = deps.exposures;
  const uses = await deps.exposures.uses();
  const { rows, builds } = await countRows(deps, filter, uses);
  const read = buildReader(deps);
  const found: AffectedRow[] = [];
  let total = 0;
  for (const entry of advisories.inOrder()) {
    const count = rowsOf(rows, entry.number);
    // Names are resolved only for the rows of the page.
    const order = after ? compareTo(entry, after) : 1;
    if (count > 0 && total + count > offset && found.length < limit && order >= 0) {
      const rest = { offset: Math.max(0, offset - total), limit: limit - found.length };
      found.push(
        ...(await rowsOfEntry(
          deps,
          entry,
          { uses, match: filter.match, read },
          { ...rest, ...(after && order === 0 && { after }) },
        )),
      );
    }
    total += count;
  }
  return { total, domains: await countsIn(deps, builds), rows: found, isKnown: null };
}

/** The number of rows of each advisory, in one pass over the verdicts of every observed build. */
async function countRows({ exposures }: Pick<Deps, 'exposures'>, filter: Omit<AffectedFilter, 'domain'>, uses: Uses) {
  const { match } = filter;
  const { advisories } = exposures;
  const rows: RowCounts = { version: new Uint32Array(advisories.limit), product: new Uint32Array(advisories.limit) };
  const builds = { version: [] as BuildCount[], product: [] as BuildCount[] };
  const requested = requestedBy(exposures, filter);
  if (requested === undefined) {
    const of = numbersFitting(advisories, filter);
    const budget = new EventLoopBudget();
    for (const product of advisories.products) {
      await budget.yieldIfSpent();
      for (const build of uses.get(product) ?? []) {
        const has = advisories.verdictsOf(product, build).countInto(rows, build.domains, of);
        if (has.hasVersion) builds.version.push(build);
        if (has.hasProduct) builds.product.push(build);
      }
    }
  } else {
    for (const entry of requested.values()) {
      if (fits(entry, filter)) countEntry(exposures, entry, { rows, builds, uses });
    }
  }
  for (const kind of KINDS) {
    if (match === undefined || match === kind) continue;
    rows[kind].fill(0);
    builds[kind] = [];
  }
  return { rows, builds };
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
  { rows, builds, uses }: { readonly rows: RowCounts; readonly builds: ByEvidence<BuildCount[]>; readonly uses: Uses },
): void {
  const of = buildsNamedBy(exposures, entry, uses);
  for (const kind of KINDS) {
    rows[kind][entry.number] = (rows[kind][entry.number] as number) + sumOf(of[kind]);
    builds[kind].push(...of[kind]);
  }
}

type ReadBuilds = (
  builds: readonly BuildCount[],
  page: Pick<Search, 'limit' | 'offset' | 'after'>,
) => Promise<readonly DomainRow[]>;

/** Many advisories affect the same builds: their domains are read once. */
function buildReader({ analytics }: Pick<Deps, 'analytics'>): ReadBuilds {
  const pages = new Map<string, Promise<readonly DomainRow[]>>();
  return (builds, page) => {
    const key = JSON.stringify([builds, page]);
    const known = pages.get(key) ?? analytics.search({ filter: { builds }, ...page }).then(({ domains }) => domains);
    pages.set(key, known);
    return known;
  };
}

async function rowsOfEntry(
  { exposures }: Pick<Deps, 'exposures'>,
  entry: Entry,
  { uses, match, read }: { readonly uses: Uses; readonly match: AffectedFilter['match']; readonly read: ReadBuilds },
  { limit, offset, after }: Page<AffectedKey>,
): Promise<AffectedRow[]> {
  const found: AffectedRow[] = [];
  let skip = offset;
  for (const kind of KINDS) {
    if (match && kind !== match) continue;
    for (const product of entry.products) {
      const position = after ? positionOf(entry, kind, product) - positionOf(entry, after[2], after[3]) : 1;
      if (position < 0) continue;
      const builds = buildsNamedBy(exposures, entry, uses, [product])[kind];
      const size = sumOf(builds);
      if (size > skip) {
        const key = after && position === 0 ? ([null, after[4]] as const) : undefined;
        const count = Math.min(limit - found.length, size - skip);
        for (const { name: domain, builds: shown = [] } of await read(builds, {
          limit: count,
          offset: skip,
          after: key,
        })) {
          const { version, platform } = shown.find((each) => each.product === product) ?? NO_VERSION;
          found.push({ entry, product, build: { version, platform }, isAffected: kind === 'version', domain });
        }
      }
      skip = Math.max(0, skip - size);
      if (found.length >= limit) return found;
    }
  }
  return found;
}

/** The key of a row. */
export const affectedKey = ({ entry, isAffected, product, domain }: AffectedRow): AffectedKey => [
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
