// Market and security posture of all domains: concentration, dependence, adoption.
import {
  type Adoption,
  adoptionCurve,
  COUNTED_STANDARDS,
  coAdoption,
  dayOf,
  MIN_SUPPORT,
  market,
  markets,
  scorecard,
  supplyChain,
} from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { dateOf, MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { dependenceLevel } from '../../reports/dependence-level.ts';
import { MarketSchema, marketReport } from '../../reports/market-report.ts';
import { CategoryParameter, ProviderPath, providerOf, Text, Word } from '../parameters.ts';

/** A new day has no event: maximum age of an answer. */
const WINDOW_MS = 60_000;
const count = z.int().min(0);
const share = z.number().min(0).max(1);

const AdoptionSchema = z.object({ domains: count, measured: count, share: share.nullable() }).meta({
  id: 'Adoption',
  description: 'Number of domains with the standard, and of domains in which it could be measured.',
});
const Standards = z.object(
  Object.fromEntries(COUNTED_STANDARDS.map((name) => [name, AdoptionSchema])) as Record<
    (typeof COUNTED_STANDARDS)[number],
    typeof AdoptionSchema
  >,
);

export const getScorecard = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/security-scorecard',
    tag: 'Intelligence',
    summary: 'DMARC and SPF adoption across all domains',
    description:
      'Each standard is counted among the domains with a successful lookup. `spf_fail` is `-all`, `spf_softfail` `~all`, `spf_neutral` `?all`, `spf_pass` `+all`; `dmarc_reject` is as published, `dmarc_effective_reject` after `t=y` is applied (RFC 9989).',
    output: {
      kind: 'signed',
      schema: z.object({
        domains: count.describe('Domains that exist, parked ones included.'),
        adoption: Standards,
        both: AdoptionSchema.describe('Domains with both valid SPF and a DMARC policy.'),
        by_sector: z.array(
          z.object({ sector: z.string(), domains: count, adoption: Standards, mean_score: z.number().nullable() }),
        ),
        grades: z.array(z.object({ grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']), domains: count })),
        scored: count,
        mean_score: z.number().nullable(),
        method: z.string(),
      }),
    },
    errors: [],
    access: 'key',
    cache: () => ({ key: 'scorecard', tags: [...tags.domains], maxStaleMs: MAX_STALE_MS }),
  },
  ({ index }: StackApp) => {
    const card = scorecard(index);
    const adoption = (of: Readonly<Record<string, Adoption>>) =>
      Object.fromEntries(COUNTED_STANDARDS.map((name) => [name, { ...(of[name] as Adoption) }])) as z.input<
        typeof Standards
      >;
    return {
      domains: card.domains,
      adoption: adoption(card.adoption),
      both: { ...card.both },
      by_sector: card.bySector.map((each) => ({
        sector: each.sector,
        domains: each.domains,
        adoption: adoption(each.adoption),
        mean_score: each.meanScore,
      })),
      grades: card.grades as z.input<typeof AdoptionSchema> & { grade: 'A'; domains: number }[],
      scored: card.scored,
      mean_score: card.meanScore,
      method: 'share = domains / measured; a failed lookup counts in neither; docs/detection.md explains the score',
    };
  },
);

export const getMarketShare = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/market-share',
    tag: 'Intelligence',
    summary: 'Provider market share by category',
    description:
      'Shares of the domains with a known provider, self-hosted ones included; a domain with k providers counts 1/k for each. Only services of high and medium confidence count. Parked names are excluded by default.',
    query: z.object({
      category: CategoryParameter.optional(),
      include_parked: Word(['true', 'false']).default('false'),
    }),
    output: {
      kind: 'signed',
      schema: z.object({ include_parked: z.boolean(), method: z.string(), categories: z.array(MarketSchema) }),
    },
    errors: [],
    access: 'key',
    cache: (_app: StackApp, { category, include_parked }) => ({
      key: `market ${category ?? ''} ${include_parked}`,
      tags: category === undefined ? [...tags.domains] : [tags.category(category), tags.domains[0]],
      maxStaleMs: MAX_STALE_MS,
    }),
  },
  ({ index, names }, { category, include_parked }) => {
    const includeParked = include_parked === 'true';
    const options = { includeParked, ownerOf: names.ownerOf };
    const found = category === undefined ? markets(index, options) : [market(index, category, options)];
    return {
      include_parked: includeParked,
      method:
        'HHI = sum of squared percent shares, 0-10,000, by brand and by owner; each self-hosted domain is a separate firm; unknown and unmeasured ones are excluded. Bands: 1,800 from DOJ/FTC Merger Guidelines 2023, guideline 1; 1,000 from those of 1992',
      categories: found.map((each) => marketReport(each, { names, max: category === undefined ? 25 : 1_000 })),
    };
  },
);

const DependenceSchema = z.object({ provider: z.string(), provider_id: z.string(), domains: count, share });

export const getSupplyChain = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/supply-chain/{provider}',
    tag: 'Intelligence',
    summary: 'Supply-chain concentration risk for a provider',
    params: ProviderPath,
    output: {
      kind: 'signed',
      schema: z.object({
        provider: z.string(),
        provider_id: z.string(),
        owner: z.string(),
        dependent_domains: count.describe('Domains that use it, in any category and with any confidence.'),
        share_by_category: z.record(z.string(), share),
        hhi_by_category: z.record(z.string(), z.number().nullable()),
        sole_source_domains: count.describe(
          'Domains with a category in which it is the only provider of high or medium confidence.',
        ),
        upstream: z
          .array(DependenceSchema)
          .describe('Providers that its domains use in addition; share of its domains.'),
        downstream: z
          .array(DependenceSchema)
          .describe('Providers whose domains use it in addition; share of their domains.'),
        risk_level: z.enum(['low', 'medium', 'high', 'critical']),
        reasons: z.array(z.string()),
        definition: z.string(),
      }),
    },
    errors: ['unknown_provider'],
    access: 'key',
    cache: (app: StackApp, input, context) => {
      const { id } = providerOf(app, input.provider, context);
      return { key: `supply ${id}`, tags: [tags.provider(id), tags.domains[0]], maxStaleMs: MAX_STALE_MS };
    },
  },
  (app, input, context) => {
    const { id, name, owner } = providerOf(app, input.provider, context);
    const { index, names } = app;
    const chain = supplyChain(index, id, { ownerOf: names.ownerOf, limit: 20 });
    const named = (list: typeof chain.upstream) =>
      list.map(({ provider, ...rest }) => ({ provider: names.nameOf(provider), provider_id: provider, ...rest }));
    return {
      provider: name,
      provider_id: id,
      owner,
      dependent_domains: chain.dependentDomains,
      share_by_category: Object.fromEntries(chain.markets.map((each) => [each.market.category, each.share])),
      hhi_by_category: Object.fromEntries(chain.markets.map((each) => [each.market.category, each.market.hhi])),
      sole_source_domains: chain.soleSourceDomains,
      upstream: named(chain.upstream),
      downstream: named(chain.downstream),
      ...dependenceLevel(chain, { name, domains: index.size }),
      definition: `Co-dependence needs ${MIN_SUPPORT} common domains; other brands of ${owner} are excluded.`,
    };
  },
);

export const getAdoption = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/adoption/{tool}',
    tag: 'Intelligence',
    summary: 'Adoption curve and co-adoption of a tool',
    params: z.object({ tool: Text.describe('Id, name or alias of a provider, case-insensitive.') }),
    output: {
      kind: 'signed',
      schema: z.object({
        tool: z.string(),
        provider_id: z.string(),
        domains: count,
        share,
        method: z.string(),
        curve: z.array(
          z.object({
            date: z.iso.date(),
            domains: count,
            added: count,
            removed: count,
            measured: z
              .boolean()
              .describe('Whether there were scans on this day; if not, the numbers are those of the previous day.'),
          }),
        ),
        co_adoption: z.array(
          z.object({
            provider: z.string(),
            provider_id: z.string(),
            domains: count,
            jaccard: share,
            lift: z.number().min(0),
          }),
        ),
      }),
    },
    errors: ['unknown_provider'],
    access: 'key',
    cache: (app: StackApp, { tool }, context) => {
      const { id } = providerOf(app, tool, context);
      const today = dayOf(app.clock().getTime());
      return {
        key: `adoption ${id} ${today}`,
        tags: [tags.provider(id), tags.domains[0]],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: WINDOW_MS,
      };
    },
  },
  (app, { tool }, context) => {
    const { id, name } = providerOf(app, tool, context);
    const { index, names } = app;
    const to = dayOf(app.clock().getTime());
    const scanned = new Set(index.history.scanDays().map(({ day }) => day));
    const [first = to] = scanned;
    const curve = adoptionCurve(index, { provider: id }, { from: Math.max(first, to - 364), to });
    const domains = curve.at(-1)?.domains ?? 0;
    return {
      tool: name,
      provider_id: id,
      domains,
      share: index.size === 0 ? 0 : domains / index.size,
      method: `Curve for the current set of domains: before its first scan a domain counts with the result of that scan, so that adding domains does not count as adoption; a change counts on the day of its confirmation. Jaccard = common / either; lift = common x all / (own x other); at least ${MIN_SUPPORT} common domains; brands of the same owner are excluded.`,
      curve: curve.map(({ day, ...point }) => ({ date: dateOf(day), ...point, measured: scanned.has(day) })),
      co_adoption: coAdoption(index, id, { ownerOf: names.ownerOf, limit: 50 }).map(({ provider, ...rest }) => ({
        provider: names.nameOf(provider),
        provider_id: provider,
        ...rest,
      })),
    };
  },
);
