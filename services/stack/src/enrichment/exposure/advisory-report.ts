// What the API says of an advisory and of those whom it concerns.
import { type Advisory, type Entry, priorityOf, SEVERITIES } from '@strata/advisories';
import type { DomainIndex } from '@strata/analytics';
import { z } from 'zod';
import type { KnownNames } from '../../index/known-names.ts';
import type { Exposure, Exposures } from './exposures.ts';
import { NO_VERSION } from './product-uses.ts';

const count = z.int().min(0);
const Time = z.iso.datetime();
export const AdvisorySeverity = z
  .enum(SEVERITIES)
  .meta({ id: 'AdvisorySeverity', description: 'Bands of the CVSS score (FIRST).' });

/** `version` and `product` are never mixed up, nor added up. */
export const MatchSchema = z.enum(['version', 'product']).meta({
  id: 'Match',
  description:
    'version: a version was seen and is in an affected range. product: the product was seen and nothing more can be said; no claim that it is affected.',
});

const DomainCounts = z.object({
  version: count.describe('Domains that show an affected version.'),
  product: count.describe('Further domains that use the product; whether they are affected is not known.'),
});

const about = {
  id: z.string().describe('CVE id where there is one, else the id of GHSA or OSV.'),
  severity: AdvisorySeverity.nullable(),
  cvss: z.number().min(0).max(10).nullable(),
  epss: z.number().min(0).max(1).nullable().describe('Probability of exploitation within 30 days (FIRST).'),
  known_exploited: z.boolean().describe("In CISA's catalogue."),
  priority: z
    .enum(['act', 'attend', 'track'])
    .describe('act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.'),
  published: Time,
};

const ranges = {
  product: z.string(),
  product_id: z.string(),
  version_range: z.string().nullable().describe('As the publisher of `range_source` gives it; null where none does.'),
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
    match: MatchSchema.describe('version when any domain shows an affected version.'),
    domains: DomainCounts,
    products: z.array(z.object({ ...ranges, domains: DomainCounts })),
    affected: z
      .array(z.string())
      .describe('Domains that show an affected version: at most 10 of them; `/enrichment/affected` has all.'),
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
        'in_range: the version seen is affected. Of a product match: no_version: none was seen; no_range: publishers give none that can be compared, or the version is shown too short to tell; condition: affected only together with something that was not seen; backport: a distribution mends old versions without a new number.',
      ),
    ...ranges,
    version: z.string().nullable().describe('As the domain shows it.'),
    platform: z.string().nullable(),
  })
  .meta({ id: 'Exposure' });

export const AffectedSchema = ExposureSchema.extend({ domain: z.string() }).meta({ id: 'Affected' });

/** What the stream tells of an advisory. */
export const AdvisoryNewsSchema = z
  .object({
    ...about,
    title: z.string().nullable(),
    products: z.array(z.object({ product: z.string(), product_id: z.string() })),
    match: MatchSchema,
    domains: DomainCounts,
  })
  .meta({ id: 'AdvisoryNews' });

/** What of it stands in a profile. */
export const OpenAdvisoriesSchema = z
  .object({
    version: count.describe('Advisories that the versions seen are affected by.'),
    product: count.describe('Advisories of the products seen that may or may not concern their versions.'),
    known_exploited: count.describe('Of `version`, those known to be exploited.'),
    by_severity: z.record(z.string(), count).describe('Of `version`.'),
    top: z.array(ExposureSchema).describe('The most urgent, those of `version` first; at most 10.'),
  })
  .nullable()
  .meta({ id: 'OpenAdvisories', description: 'Null: no source of advisories has been read yet, so nothing is known.' });

export interface ReportDeps {
  readonly exposures: Exposures;
  readonly index: DomainIndex;
  readonly names: KnownNames;
}

const SHOWN_DOMAINS = 10;
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

/** `told` is the advisory in full, for what the index does not keep. */
export function advisoryReport(
  entry: Entry,
  told: Pick<Advisory, 'summary' | 'urls'>,
  { exposures, index, names }: ReportDeps,
): z.input<typeof AdvisorySchema> {
  const { advisory, exploited, score } = entry;
  const domains = exposures.countsOf(entry);
  return {
    ...aboutOf(entry),
    aliases: [...advisory.aliases],
    summary: told.summary,
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
    match: domains.version > 0 ? 'version' : 'product',
    domains: { ...domains },
    products: entry.products.map((product) => {
      const { range, rangeSource } = exposures.advisories.judgementOf(entry, product, NO_VERSION);
      return {
        product: names.nameOf(product),
        product_id: product,
        version_range: range,
        range_source: rangeSource,
        domains: { ...exposures.countsOf(entry, [product]) },
      };
    }),
    affected: exposures
      .someAffected(entry, SHOWN_DOMAINS)
      .map((domain) => index.names.name(domain))
      .sort(),
    references: [...told.urls],
  };
}

export function advisoryNews(
  entry: Entry,
  { exposures, names }: Pick<ReportDeps, 'exposures' | 'names'>,
): z.input<typeof AdvisoryNewsSchema> {
  const domains = exposures.countsOf(entry);
  return {
    ...aboutOf(entry),
    products: entry.products.map((id) => ({ product: names.nameOf(id), product_id: id })),
    match: domains.version > 0 ? 'version' : 'product',
    domains: { ...domains },
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

/** `all` is what concerns one domain or one product, the most urgent first. */
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
    version: version.length,
    product: product.length,
    known_exploited: version.filter(({ entry }) => entry.exploited !== null).length,
    by_severity: Object.fromEntries(bySeverity),
    top: [...version, ...product].slice(0, SHOWN_ADVISORIES).map((each) => exposureReport(each, deps)),
  };
}
