// Known vulnerabilities in the products of domains: sync status, advisories, and affected domains.
import { SEVERITIES, type Severity } from '@strata/advisories';
import { PUBLIC_SUFFIX_LIST } from '@strata/detect';
import { type RequestContext, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import {
  AdvisorySchema,
  AffectedSchema,
  advisoryReports,
  exposureReport,
} from '../enrichment/exposure/advisory-report.ts';
import { advisoryKey, affectedKey, listAdvisories, listAffected } from '../enrichment/exposure/affected.ts';
import { coverageOf } from '../enrichment/exposure/exposed-domains.ts';
import { enrichmentState } from '../enrichment/state.ts';
import { dumpTimes } from '../exports/dump/dump-times.ts';
import { MAX_STALE_MS, tags } from '../index/live-index.ts';
import { domainOf } from './domains/domains.ts';
import { DomainName, offsetParameters, pageFields, pageOf } from './paging.ts';
import { Text, Word } from './parameters.ts';

const count = z.int().min(0);
const Time = z.iso.datetime().nullable();
const SeverityParameter = Word(SEVERITIES).describe('Only advisories of this severity: low, medium, high, critical.');

const ExploitedParameter = Word(['true', 'false']).describe(
  "Only advisories that are, or are not, in CISA's catalogue.",
);
const AdvisoryParameter = Text.describe('Only this advisory: a CVE or GHSA id, case-insensitive.');

/** The filters of both lists, normalized. */
function filterOf({ severity, known_exploited, advisory }: FilterInput) {
  return {
    severity,
    isExploited: known_exploited === undefined ? undefined : known_exploited === 'true',
    advisory: advisory?.trim().toUpperCase(),
  };
}

interface FilterInput {
  readonly severity?: Severity | undefined;
  readonly known_exploited?: 'true' | 'false' | undefined;
  readonly advisory?: string | undefined;
}

const Id = z.string().max(100);
const ADVISORIES = { name: 'advisories', key: z.tuple([z.number(), Id]).readonly() };
const AFFECTED = {
  name: 'affected',
  key: z.tuple([z.number(), Id, z.enum(['version', 'product']), Id, DomainName]).readonly(),
};

const SourceSchema = z
  .object({
    source: z.string(),
    state: z
      .enum(['never', 'syncing', 'complete', 'failed', 'interrupted', 'off'])
      .describe('complete: the last sync was complete. interrupted: it was stopped; the next one resumes it.'),
    last_sync: Time.describe('End of the last complete sync.'),
    started: Time,
    next_sync: Time,
    records: count.describe('Stored records of the source.'),
    read: count.describe('Records read by the current sync, or the last one that found any.'),
    skipped: count.describe('Unreadable records among those read.'),
    skipped_example: z.string().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'AdvisorySource' });

export const getEnrichmentStatus = route(
  {
    method: 'GET',
    path: '/stack/v1/enrichment/status',
    tag: 'Enrichment',
    summary: 'Enrichment sync state and coverage',
    output: {
      kind: 'signed',
      schema: z.object({
        sources: z.array(SourceSchema),
        advisories: z.object({
          total: count.describe('Known vulnerabilities of all products.'),
          of_known_products: count.describe('Vulnerabilities of products in the rulebook.'),
          known_exploited: count,
          scored: count.describe('Vulnerabilities with an EPSS score.'),
          records: z.record(z.string(), count).describe('Records by publisher of their ranges.'),
        }),
        coverage: z.object({
          providers: z.object({
            total: count,
            products: count.describe(
              'Providers that are products with names known to publishers; the remaining ones are services.',
            ),
            in_use: count.describe('Products that at least one domain shows.'),
          }),
          domains: z.object({
            total: count,
            with_product: count.describe('Domains that show a product with possible advisories.'),
            with_version: count.describe('Domains that also show its version.'),
          }),
        }),
        catalog: z
          .object({
            version: z.string().describe('Version of the rulebook: the catalog with the additions of the operator.'),
            date: z.string().describe('Of the release; of the bundled catalog, the newest date of verification.'),
            source: z.string().describe('`bundled`, or the name of the key that signed the release.'),
          })
          .describe('The catalog of providers that evaluates evidence.'),
        dump: z
          .object({
            written_at: Time,
            failed_at: Time.describe('Of the last attempt, if it failed: the log says why.'),
          })
          .describe('The nightly dump, if one is configured.'),
        public_suffix_list: z
          .object({ source: z.string(), date: z.iso.date().describe('Release of the package that has the list.') })
          .describe('The list that decides which names are registrable.'),
      }),
    },
    cache: () => ({ key: 'enrichment.status', tags: [], maxAgeMs: MAX_STALE_MS }),
  },
  async (app: StackApp) => {
    const { exposures, catalog, rulebook } = app;
    const { counts, sources } = await enrichmentState(app);
    const coverage = await coverageOf(app);
    const iso = (time: Date | null) => time?.toISOString() ?? null;
    return {
      sources: sources.map((source) => ({
        source: source.name,
        state: source.state,
        last_sync: iso(source.finishedAt),
        started: iso(source.startedAt),
        next_sync: iso(source.nextAt),
        records: source.records,
        read: source.read,
        skipped: source.skipped,
        skipped_example: source.skippedExample,
        error: source.error && withoutPaths(source.error),
      })),
      advisories: {
        total: counts.advisories,
        of_known_products: exposures.advisories.size,
        known_exploited: counts.knownExploited,
        scored: counts.scores,
        records: { ...counts.bySource },
      },
      coverage: {
        providers: {
          total: rulebook.providers.size,
          products: exposures.advisories.products.length,
          in_use: coverage.products,
        },
        domains: { total: app.known.size, with_product: coverage.domains, with_version: coverage.versioned },
      },
      catalog: { version: rulebook.version, date: catalog.date, source: catalog.source },
      dump: await dumpTimes(app.store.texts),
      public_suffix_list: PUBLIC_SUFFIX_LIST,
    };
  },
);

export const getAdvisories = route(
  {
    method: 'GET',
    path: '/stack/v1/enrichment/advisories',
    tag: 'Enrichment',
    summary: 'Security advisories affecting tracked domains',
    description:
      'Known-exploited ones first, then by EPSS, CVSS and date. `domains.version` counts domains that show an affected version; `domains.product` counts those that only use the product, for which the effect is unknown.',
    query: z.object({
      severity: SeverityParameter.optional(),
      known_exploited: ExploitedParameter.optional(),
      advisory: AdvisoryParameter.optional(),
      ...offsetParameters(50),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count,
        ...pageFields,
        advisories: z.array(AdvisorySchema),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, input) => ({
      key: `enrichment.advisories ${JSON.stringify([filterOf(input), input.limit, input.offset, input.cursor])}`,
      tags: [...tags.advisories, ...tags.domains],
      maxStaleMs: MAX_STALE_MS,
    }),
  },
  async (app: StackApp, input, context) => {
    requireLoaded(app, context);
    const filter = filterOf(input);
    const page = pageOf(input, ADVISORIES, filter);
    const found = await listAdvisories(app, filter, page.query);
    const { rows: entries, fields } = page.cut(found.entries, advisoryKey);
    const stored = await app.store.advisories.read(entries.map(({ advisory }) => advisory.id));
    const full = new Map(stored.map(({ advisory }) => [advisory.id, advisory]));
    const none = { summary: null, urls: [] };
    const wanted = entries.map((entry) => ({ entry, full: full.get(entry.advisory.id) ?? none }));
    const advisories = await advisoryReports(wanted, app);
    return { total: found.total, ...fields, advisories };
  },
);

export const getAffected = route(
  {
    method: 'GET',
    path: '/stack/v1/enrichment/affected',
    tag: 'Enrichment',
    summary: 'Domains affected by known CVEs',
    description:
      'One row for each advisory, product and domain: most urgent advisories first, and within an advisory the domains that show an affected version (`match: version`) before those that only use the product (`match: product`).',
    query: z.object({
      domain: Text.describe('Only this domain.').optional(),
      severity: SeverityParameter.optional(),
      match: Word(['version', 'product']).describe('Only rows with this match.').optional(),
      known_exploited: ExploitedParameter.optional(),
      advisory: AdvisoryParameter.optional(),
      ...offsetParameters(50),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        total: count.describe('Matching rows.'),
        domains: z
          .object({ version: count, product: count })
          .describe('Domains in these rows; one with both kinds is counted in version.'),
        known: z
          .object({
            advisories: z.boolean().describe('Whether a source has been synced completely.'),
            advisory: z
              .boolean()
              .nullable()
              .describe('Whether the requested advisory is for a product in the rulebook.'),
            domain: z.boolean().nullable().describe('Whether the requested domain has been scanned.'),
          })
          .describe('Possible reasons for an empty list; null for filters that were not used.'),
        ...pageFields,
        affected: z.array(AffectedSchema),
      }),
    },
    errors: ['invalid_domain', 'unavailable'],
    cache: (_app: StackApp, input, context) => {
      const domain = input.domain === undefined ? undefined : domainOf(input.domain, context);
      const parameters = [domain, filterOf(input), input.match, input.limit, input.offset, input.cursor];
      return {
        key: `enrichment.affected ${JSON.stringify(parameters)}`,
        tags: [...tags.advisories, ...tags.domains, ...tags.enrichment],
        maxStaleMs: MAX_STALE_MS,
      };
    },
  },
  async (app: StackApp, input, context) => {
    requireLoaded(app, context);
    const { match } = input;
    const domain = input.domain === undefined ? undefined : domainOf(input.domain, context);
    const filter = { ...filterOf(input), match, domain };
    const page = pageOf(input, AFFECTED, filter);
    const found = await listAffected(app, filter, page.query);
    const { exposures } = app;
    const { rows, fields } = page.cut(found.rows, affectedKey);
    return {
      total: found.total,
      domains: found.domains,
      known: {
        advisories: exposures.isKnown,
        advisory: filter.advisory === undefined ? null : exposures.advisories.named(filter.advisory).length > 0,
        domain: found.isKnown,
      },
      ...fields,
      affected: rows.map(({ domain, ...exposure }) => ({ domain, ...exposureReport(exposure, app) })),
    };
  },
);

/** Hides the location of an operator's mirror or folder. */
export const withoutPaths = (text: string): string => text.replace(/(?:https?:\/)?\/\S+/g, '…');

/** Refuses requests until all advisories are loaded after a start: a partial list could be taken for a complete one. */
function requireLoaded({ exposures }: StackApp, context: RequestContext<'unavailable'>): void {
  if (exposures.isLoaded) return;
  context.refuse('unavailable', 'The advisories are being loaded after a start.', { headers: { 'retry-after': '5' } });
}
