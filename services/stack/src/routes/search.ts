// Domains by name, provider or category.
import { searchDomains } from '@strata/analytics';
import { CATEGORIES, POSTURE_FLAGS, type PostureFlag } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../app.ts';
import { tags } from '../live-index.ts';
import { findProvider, nearestProviders } from '../provider-names.ts';
import { asciiPart, CategoryParameter, Limit, Offset, SectorParameter, Text, Word } from './parameters.ts';

/** A scan that sees nothing new makes no event: the times of scans in a list may be behind by this. */
export const UNCHANGED_MS = 60_000;

export const FoundDomainSchema = z
  .object({
    domain: z.string(),
    scanned_at: z.iso.datetime(),
    state: z.enum(['active', 'parked', 'nonexistent', 'unmeasured']),
    sector: z.string(),
    score: z.int().nullable(),
    services: z.array(
      z.object({
        category: z.enum(CATEGORIES),
        provider: z.string(),
        provider_id: z.string(),
        confidence: z.enum(['high', 'medium', 'low']),
      }),
    ),
  })
  .meta({ id: 'FoundDomain' });

/** What lists show of a domain, from the index alone. */
export function foundDomain(
  { index, names }: Pick<StackApp, 'index' | 'names'>,
  domain: number,
): z.input<typeof FoundDomainSchema> {
  const { scannedAt, score } = index.columns.facts(domain);
  return {
    domain: index.names.name(domain),
    scanned_at: new Date(scannedAt).toISOString(),
    state: index.state(domain),
    sector: index.sector(domain),
    score,
    services: index.services(domain).map(([category, provider, confidence]) => ({
      category,
      provider: names.nameOf(provider),
      provider_id: provider,
      confidence,
    })),
  };
}

const query = z.object({
  q: Text.describe('Any part of the domain name, in Unicode or as A-labels.')
    .transform(asciiPart)
    .pipe(z.string().regex(/^[a-z0-9._-]+$/, 'holds a character that no domain name has'))
    .optional(),
  provider: Text.describe('Id, name or alias of a provider.').optional(),
  category: CategoryParameter.optional(),
  confidence: Word(['high', 'medium', 'low'])
    .describe('Of the service that `provider` and `category` describe, or of any.')
    .optional(),
  sector: SectorParameter.optional(),
  state: Word(['active', 'parked', 'nonexistent']).optional(),
  flag: Word(POSTURE_FLAGS as unknown as [PostureFlag, ...PostureFlag[]])
    .describe('A mark of the security posture: `dmarc_reject`, `dnssec` …')
    .optional(),
  limit: Limit.default(50),
  offset: Offset.default(0),
});

export const getSearch = route(
  {
    method: 'GET',
    path: '/stack/v1/search',
    tag: 'Search',
    summary: 'Domains by name, provider or category',
    description:
      'All filters must hold. Names equal to `q` come first, then names that begin with it, then names that hold it anywhere; within each, and without `q`, in alphabetical order. ' +
      'A provider that nobody knows gives no results, and `did_you_mean` the nearest names.',
    query,
    output: {
      kind: 'signed',
      schema: z.object({
        total: z.int().min(0),
        limit: z.int(),
        offset: z.int(),
        results: z.array(FoundDomainSchema),
        did_you_mean: z.array(z.string()).optional(),
      }),
    },
    errors: [],
    access: 'key',
    cache: (app: StackApp, input) => {
      const { limit, offset, provider, ...rest } = input;
      const id = provider === undefined ? undefined : (findProvider(provider, app)?.id ?? `? ${provider}`);
      const { category } = input;
      const tag =
        id !== undefined ? tags.provider(id) : category !== undefined ? tags.category(category) : tags.domains[0];
      return {
        key: `search ${JSON.stringify([id, rest, limit, offset])}`,
        tags: [tag],
        maxStaleMs: 1_000,
        maxAgeMs: UNCHANGED_MS,
      };
    },
  },
  (app, input) => {
    const { q, provider, limit, offset, ...filter } = input;
    const known = provider === undefined ? undefined : findProvider(provider, app);
    if (provider !== undefined && !known) {
      return { total: 0, limit, offset, results: [], did_you_mean: nearestProviders(provider, app.rulebook) };
    }
    const found = searchDomains(
      app.index,
      { ...filter, ...(q === undefined ? {} : { part: q }), ...(known ? { provider: known.id } : {}) },
      { limit, offset },
    );
    return { total: found.total, limit, offset, results: found.domains.map((domain) => foundDomain(app, domain)) };
  },
);
