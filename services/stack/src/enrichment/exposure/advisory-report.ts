// The API representation of advisories and affected domains.
import { type Advisory, type Entry, priorityOf, SEVERITIES } from '@strata/advisories';
import { type BuildCount, MAX_FIRST } from '@strata/analytics';
import { z } from 'zod';
import type { KnownNames } from '../../index/known-names.ts';
import { sortMembers } from '../../reports/in-schema.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import { type ByEvidence, buildsNamedBy, countsIn, type ExposedDeps, sumOf } from './exposed-domains.ts';
import type { Exposure } from './exposures.ts';
import { NO_VERSION } from './product-uses.ts';

const count = z.int().min(0);
const Time = z.iso.datetime();
export const AdvisorySeverity = z
  .enum(SEVERITIES)
  .meta({ id: 'AdvisorySeverity', description: 'Bands of the CVSS score (FIRST).' });

/** `version` and `product` are always separate, never added up. */
export const MatchSchema = z.enum(['version', 'product']).meta({
  id: 'Match',
  description:
    'version: the observed version is in an affected range. product: only the product was observed; this does not claim that it is affected.',
});

const DomainCounts = z.object({
  version: count.describe('Domains that show an affected version.'),
  product: count.describe('Further domains that use the product; whether they are affected is unknown.'),
});

const about = {
  id: z.string().describe('CVE id if there is one, else the id of GHSA or OSV.'),
  severity: AdvisorySeverity.nullable(),
  cvss: z.number().min(0).max(10).nullable(),
  epss: z.number().min(0).max(1).nullable().describe('Probability of exploitation within 30 days (FIRST).'),
  known_exploited: z.boolean().describe("Listed in CISA's catalogue."),
  priority: z
    .enum(['act', 'attend', 'track'])
    .describe('act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.'),
  published: Time,
};

const ranges = {
  product: z.string(),
  product_id: z.string(),
  version_range: z.string().nullable().describe('As published by `range_source`; null if not published.'),
  range_source: z.enum(['nvd', 'cna', 'ghsa', 'osv']).nullable(),
};

export const AdvisorySchema = z
  .object({
    ...about,
    aliases: z.array(z.string()),
    title: z.string().nullable(),
    summary: z.string().nullable(),
    cvss_version: z.string().nullable(),
    cvss_vector: z.string().nullable(),
    cvss_source: z.string().nullable(),
    epss_percentile: z.number().min(0).max(1).nullable(),
    exploited: z
      .object({
        date_added: z.string(),
        due_date: z.string().nullable(),
        ransomware: z.boolean(),
        required_action: z.string(),
      })
      .nullable(),
    modified: Time,
    match: MatchSchema.describe('version if any domain shows an affected version.'),
    domains: DomainCounts,
    products: z.array(z.object({ ...ranges, domains: DomainCounts })),
    affected: z
      .array(z.string())
      .describe('At most 10 domains that show an affected version; `/enrichment/affected` lists all.'),
    references: z.array(z.string()),
  })
  .meta({ id: 'Advisory' });

export const ExposureSchema = z
  .object({
    ...about,
    title: z.string().nullable(),
    match: MatchSchema,
    reason: z
      .enum(['in_range', 'no_version', 'no_range', 'condition', 'backport'])
      .describe(
        'in_range: the observed version is affected. For a product match: no_version: no version was observed; no_range: there is no comparable range, or the observed version is too short to compare; condition: affected only in combination with something that was not observed; backport: a distribution fixes old versions without a new version number.',
      ),
    ...ranges,
    version: z.string().nullable().describe('As shown by the domain.'),
    platform: z.string().nullable(),
  })
  .meta({ id: 'Exposure' });

export const AffectedSchema = ExposureSchema.extend({ domain: z.string() }).meta({ id: 'Affected' });

/** The stream's representation of an advisory. */
export const AdvisoryNewsSchema = z
  .object({
    ...about,
    title: z.string().nullable(),
    products: z.array(z.object({ product: z.string(), product_id: z.string() })),
    match: MatchSchema.nullable().describe('Null if `domains` is.'),
    domains: DomainCounts.nullable().describe(
      'When the event was announced; null if a version of Strata that did not record it did so.',
    ),
  })
  .meta({ id: 'AdvisoryNews' });

/** The advisories in a domain's profile. */
export const OpenAdvisoriesSchema = z
  .object({
    version: count.describe('Advisories that affect the observed versions.'),
    product: count.describe('Advisories of the observed products that possibly affect them.'),
    known_exploited: count.describe('Advisories in `version` that are known to be exploited.'),
    by_severity: z.record(z.string(), count).describe('Advisories in `version` by severity.'),
    top: z.array(ExposureSchema).describe('The most urgent ones, those in `version` first; at most 10.'),
  })
  .nullable()
  .meta({ id: 'OpenAdvisories', description: 'Null until an advisory source has been read.' });

export interface ReportDeps extends ExposedDeps {
  readonly names: KnownNames;
}

const SHOWN_DOMAINS = MAX_FIRST;
const SHOWN_ADVISORIES = 10;

function aboutOf(entry: Entry) {
  const { advisory, exploited, score } = entry;
  return {
    id: advisory.id,
    severity: advisory.severity,
    cvss: advisory.cvss?.score ?? null,
    epss: score?.epss ?? null,
    known_exploited: exploited !== null,
    priority: priorityOf(entry),
    published: advisory.published,
    title: advisory.title,
  };
}

/** An advisory, and the complete one for fields that are not kept in memory. */
export interface FullEntry {
  readonly entry: Entry;
  readonly full: Pick<Advisory, 'summary' | 'urls'>;
}

export async function advisoryReports(
  all: readonly FullEntry[],
  deps: ReportDeps,
): Promise<z.input<typeof AdvisorySchema>[]> {
  const { exposures, analytics, names } = deps;
  const uses = await exposures.uses();
  const budget = new EventLoopBudget();
  const counted = [];
  for (const { entry, full } of all) {
    await budget.yieldIfSpent();
    const builds = buildsNamedBy(exposures, entry, uses);
    const products = entry.products.map((product) => buildsNamedBy(exposures, entry, uses, [product]));
    counted.push({ entry, full, products, domains: await countsIn(deps, builds), some: someOf(builds.version) });
  }
  const ids = [...new Set(counted.flatMap(({ some }) => some))];
  const { domains: rows } = await analytics.search({ filter: { among: { ids } }, limit: ids.length, offset: 0 });
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  return counted.map(({ entry, full, products, domains, some }) => ({
    ...aboutOf(entry),
    ...fullReport(entry, full.summary),
    match: matchOf(domains),
    domains: { ...domains },
    products: entry.products.map((product, i) => {
      const { range, rangeSource } = exposures.advisories.judgementOf(entry, product, NO_VERSION);
      const { version = [], product: unversioned = [] } = products[i] ?? {};
      return {
        product: names.nameOf(product),
        product_id: product,
        version_range: range,
        range_source: rangeSource,
        domains: { version: sumOf(version), product: sumOf(unversioned) },
      };
    }),
    affected: some.flatMap((id) => nameOf.get(id) ?? []).sort(),
    references: [...full.urls],
  }));
}

/** Up to `SHOWN_DOMAINS` domains that show one of these builds. */
function someOf(builds: readonly BuildCount[]): number[] {
  const some = new Set<number>();
  for (const { first } of builds) for (const id of first.slice(0, SHOWN_DOMAINS - some.size)) some.add(id);
  return [...some];
}

function fullReport({ advisory, exploited, score }: Entry, summary: string | null) {
  return {
    aliases: [...advisory.aliases],
    summary,
    cvss_version: advisory.cvss?.version ?? null,
    cvss_vector: advisory.cvss?.vector ?? null,
    cvss_source: advisory.cvss?.by ?? null,
    epss_percentile: score?.percentile ?? null,
    exploited: exploited && {
      date_added: exploited.dateAdded,
      due_date: exploited.dueDate,
      ransomware: exploited.isRansomware,
      required_action: exploited.requiredAction,
    },
    modified: advisory.modified,
  };
}

const matchOf = ({ version }: ByEvidence<number>) => (version > 0 ? 'version' : 'product');

/** `counts`: the recorded figures. */
export function advisoryNews(
  entry: Entry,
  counts: ByEvidence<number> | undefined,
  names: KnownNames,
): z.input<typeof AdvisoryNewsSchema> {
  return {
    ...aboutOf(entry),
    products: entry.products.map((id) => ({ product: names.nameOf(id), product_id: id })),
    match: counts ? matchOf(counts) : null,
    domains: counts ? { ...counts } : null,
  };
}

export function exposureReport(
  { entry, product, build, isAffected }: Exposure,
  { exposures, names }: Pick<ReportDeps, 'exposures' | 'names'>,
): z.input<typeof ExposureSchema> {
  const { reason, range, rangeSource } = exposures.advisories.judgementOf(entry, product, build);
  return {
    ...aboutOf(entry),
    match: isAffected ? 'version' : 'product',
    reason: reason as z.input<typeof ExposureSchema>['reason'],
    product: names.nameOf(product),
    product_id: product,
    version_range: range,
    range_source: rangeSource,
    version: build.version,
    platform: build.platform,
  };
}

/** `all`: the exposures of one domain or product, most urgent first. */
export function openAdvisories(
  all: readonly Exposure[],
  deps: Pick<ReportDeps, 'exposures' | 'names'>,
): z.input<typeof OpenAdvisoriesSchema> {
  const version = all.filter(({ isAffected }) => isAffected);
  const product = all.filter(({ isAffected }) => !isAffected);
  const bySeverity = SEVERITIES.map((severity) => {
    return [severity, version.filter(({ entry }) => entry.advisory.severity === severity).length] as const;
  });
  return {
    by_severity: sortMembers(Object.fromEntries(bySeverity)),
    known_exploited: version.filter(({ entry }) => entry.exploited !== null).length,
    product: product.length,
    top: [...version, ...product].slice(0, SHOWN_ADVISORIES).map((each) => sortMembers(exposureReport(each, deps))),
    version: version.length,
  };
}
