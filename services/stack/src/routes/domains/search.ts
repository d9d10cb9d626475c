// Domains by name, provider or category.
import { type DomainFilter, type DomainRow, FACETS, type Facet } from '@strata/analytics';
import { CATEGORIES, gradeOf, POSTURE_FLAGS, type PostureFlag, ROLE_FACTS, ROLE_LIST } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp, TableApp } from '../../context.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { DOMAINS, offsetParameters, pageFields, pageOf } from '../paging.ts';
import {
  CategoryParameter,
  checkRole,
  Integer,
  NameWords,
  providerIn,
  RoleParameter,
  refuseField,
  SectorParameter,
  splitList,
  Text,
  Word,
  WordList,
} from '../parameters.ts';
import { FacetSchema, facetReport, queryIn, queryParameter } from '../query-parameter.ts';
import { OrderKeySchema, orderKeyOf, SORT_MEANING, SORTS, sortedPage } from './domain-order.ts';

/** A scan without changes has no event: the scan times in a list may lag by this. */
export const UNCHANGED_MS = 60_000;

export const FoundDomainSchema = z
  .object({
    domain: z.string(),
    scanned_at: z.iso.datetime(),
    first_seen: z.iso.datetime().describe('The first scan that measured it; to the second.'),
    changed_at: z.iso
      .datetime()
      .nullable()
      .describe('Confirmation of its last change of services; null: none. Reclassifications are not counted.'),
    state: z.enum(['active', 'parked', 'nonexistent', 'unmeasured']),
    sector: z.string(),
    score: z.int().nullable(),
    services: z.array(
      z.object({
        category: z.enum(CATEGORIES),
        role: z.enum(ROLE_LIST).describe('What the provider does for the domain.'),
        provider: z.string(),
        provider_id: z.string(),
        confidence: z.enum(['high', 'medium', 'low']),
      }),
    ),
  })
  .meta({ id: 'FoundDomain' });

/** The list entry of a domain. */
export function foundDomain(row: DomainRow, names: StackApp['names']): z.input<typeof FoundDomainSchema> {
  const { name, scannedAt, firstSeen, changedAt, state, sector, score } = row;
  return {
    domain: name,
    scanned_at: new Date(scannedAt).toISOString(),
    first_seen: new Date(firstSeen).toISOString(),
    changed_at: changedAt === 0 ? null : new Date(changedAt).toISOString(),
    state,
    sector,
    score,
    services: row.services.map(([category, provider, confidence]) => ({
      category,
      role: names.roleOf(category, provider),
      provider: names.nameOf(provider),
      provider_id: provider,
      confidence,
    })),
  };
}

const SORTED = { name: 'sorted domains', key: OrderKeySchema };

const Flags = WordList(POSTURE_FLAGS);
const flagsOf = (text: string | undefined) => (text === undefined ? [] : splitList(text)) as PostureFlag[];
const Score = Integer({ min: 0, max: 100 });

/** The filters of a search, also of exports. */
export const domainParameters = {
  q: NameWords.describe(
    'Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.',
  ).optional(),
  provider: Text.describe('Id, name or alias of a provider.').optional(),
  category: CategoryParameter.optional(),
  role: RoleParameter.describe('Role of the service that matches `provider`, or of any service.').optional(),
  confidence: Word(['high', 'medium', 'low'])
    .describe('Confidence of the service that matches `provider`, `category` and `role`, or of any service.')
    .optional(),
  min_confidence: Word(['high', 'medium', 'low'])
    .describe('Minimum confidence: market shares count services of `medium` confidence and more.')
    .optional(),
  with: Text.describe('An additional provider of the domain, by id, name or alias.').optional(),
  sector: SectorParameter.optional(),
  state: Word(['active', 'parked', 'nonexistent', 'unmeasured', 'live'])
    .describe('`live`: active or parked, as counted by the security scorecard.')
    .optional(),
  flag: Flags.describe(
    'Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.',
  ).optional(),
  without: Flags.describe('Excluded flags: `flag=dnssec_measured&without=dnssec`.').optional(),
  grade: Word(['a+', 'a', 'b', 'c', 'd', 'f']).describe('Grade of the security score.').optional(),
  score_gte: Score.describe('Minimum security score; excludes domains without a score.').optional(),
  score_lte: Score.describe('Maximum security score.').optional(),
  ...queryParameter,
};

const query = z.object({
  ...domainParameters,
  sort: Word(SORTS).describe(`${SORT_MEANING} By name, names that begin with \`q\` come first.`).default('name'),
  facets: WordList(FACETS).describe('Counts of all results by these values, separated by commas.').optional(),
  ...offsetParameters(50),
});

type DomainInput = z.output<z.ZodObject<typeof domainParameters>>;

/** The filter of a request; refuses names of unknown providers. */
export function domainFilter(app: TableApp, input: DomainInput): DomainFilter {
  const { q, flag, without, grade, score_gte, score_lte, query, ...filter } = input;
  const [provider, other] = providersOf(app, input);
  checkRole(input);
  return {
    ...filter,
    part: q,
    provider,
    with: other,
    minConfidence: filter.min_confidence,
    flags: flagsOf(flag),
    without: flagsOf(without),
    score: scoresOf({ grade, score_gte, score_lte }),
    query: query === undefined ? undefined : queryIn(app, query),
  };
}

export const getSearch = route(
  {
    method: 'GET',
    path: '/stack/v1/search',
    tag: 'Search',
    summary: 'Domains by name, provider or category',
    description:
      'All filters must match. Names equal to `q` come first, then names that begin with it, then names that contain it (of several words: that begin with the first, then the rest); within each group, and without `q`, in alphabetical order.',
    query,
    output: {
      kind: 'signed',
      schema: z.object({
        total: z.int().min(0),
        ...pageFields,
        results: z.array(FoundDomainSchema),
        facets: z.array(FacetSchema).describe('If `facets` are requested.').optional(),
      }),
    },
    cache: (app: StackApp, input) => {
      const { provider: _, with: __, ...rest } = input;
      const ids = providersOf(app, input);
      const [id] = ids;
      const { role, category = role && ROLE_FACTS[role].category } = input;
      const tag =
        id !== undefined ? tags.provider(id) : category !== undefined ? tags.category(category) : tags.domains[0];
      return {
        key: `search ${JSON.stringify([ids, rest])}`,
        tags: [tag],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: UNCHANGED_MS,
      };
    },
  },
  async (app, input) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, facets, ...filters } = input;
    const filter = domainFilter(app, filters);
    const page = pageIn(input, filter);
    const asked = facets === undefined ? [] : (splitList(facets) as Facet[]);
    const found = await app.analytics.search({ filter, facets: [...new Set(asked)], ...page.query });
    const { rows, fields } = page.cut(found.domains);
    const results = rows.map((row) => foundDomain(row, app.names));
    const counts = facets === undefined ? {} : { facets: found.facets.map((each) => facetReport(each, app.names)) };
    return { total: found.total, ...fields, results, ...counts };
  },
);

/** The page of a request. */
function pageIn({ sort, ...input }: z.output<typeof query>, filter: DomainFilter) {
  // The text of the query: times in it may be relative to now.
  const asked = ['search', { ...filter, query: input.query }];
  if (sort === 'name') {
    const page = pageOf(input, DOMAINS, asked);
    const { after, ...rest } = page.query;
    return {
      query: { ...rest, after: after === undefined ? undefined : ([null, after] as const) },
      cut: (rows: readonly DomainRow[]) => page.cut(rows, ({ name }) => name),
    };
  }
  const page = pageOf(input, SORTED, [...asked, sort]);
  return {
    query: sortedPage(sort, page.query),
    cut: (rows: readonly DomainRow[]) => page.cut(rows, (row) => orderKeyOf(row, sort)),
  };
}

/** The ids of `provider` and `with`. */
const providersOf = (app: TableApp, input: DomainInput) =>
  (['provider', 'with'] as const).map((field) => {
    const text = input[field];
    return text === undefined ? undefined : providerIn(app, field, text);
  });

const SCORES = Array.from({ length: 101 }, (_, score) => score);

/** The range of scores that matches all score filters; undefined without one. */
function scoresOf({ grade, score_gte: min, score_lte: max }: Pick<DomainInput, 'grade' | 'score_gte' | 'score_lte'>) {
  if (grade === undefined && min === undefined && max === undefined) return undefined;
  if (min !== undefined && max !== undefined && min > max) refuseField('score_lte', `is below score_gte=${min}`);
  const graded = SCORES.filter((score) => grade === undefined || gradeOf(score).toLowerCase() === grade);
  return { from: Math.max(min ?? 0, graded[0] ?? 0), to: Math.min(max ?? 100, graded.at(-1) ?? 100) };
}
