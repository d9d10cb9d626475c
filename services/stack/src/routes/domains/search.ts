// Domains by name, provider or category.
import { searchDomains } from '@strata/analytics';
import { CATEGORIES, gradeOf, POSTURE_FLAGS, type PostureFlag } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { findProvider, nearestProviders } from '../../index/provider-names.ts';
import {
  asciiPart,
  CategoryParameter,
  Limit,
  Offset,
  SectorParameter,
  Text,
  WholeNumber,
  Word,
} from '../parameters.ts';

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

/** One mark or several; the whole is text to the description, which has no lists in one parameter. */
const FLAG = `(${POSTURE_FLAGS.join('|')})`;
const Flags = z
  .string()
  .max(512, 'is too long')
  .regex(new RegExp(`^${FLAG}(,${FLAG})*$`, 'i'), `must be among ${POSTURE_FLAGS.join(', ')}, separated by commas`);
const flagsOf = (text: string | undefined) => (text?.toLowerCase().split(',') ?? []) as PostureFlag[];
const Score = WholeNumber({ min: 0, max: 100 });

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
  min_confidence: Word(['high', 'medium', 'low'])
    .describe('The same, at least: shares of markets count services of `medium` confidence and more.')
    .optional(),
  with: Text.describe('Another provider that is used besides, by id, name or alias.').optional(),
  sector: SectorParameter.optional(),
  state: Word(['active', 'parked', 'nonexistent', 'unmeasured', 'live'])
    .describe('`live`: active or parked, which the security scorecard counts.')
    .optional(),
  flag: Flags.describe(
    'Marks of the security posture, separated by commas, all of which it must have: `dmarc_reject`, `spf_valid,dmarc_valid`.',
  ).optional(),
  without: Flags.describe('Marks of which it must have none: `flag=dnssec_measured&without=dnssec`.').optional(),
  grade: Word(['a+', 'a', 'b', 'c', 'd', 'f']).describe('Of the security score.').optional(),
  score_gte: Score.describe('Security score from here on; a domain without a score has none of them.').optional(),
  score_lte: Score.describe('Security score up to this one.').optional(),
  limit: Limit.default(50),
  offset: Offset.default(0),
});

type Asked = z.output<typeof query>;

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
      const { limit, offset, provider, with: other, ...rest } = input;
      const ids = [provider, other].map((name) =>
        name === undefined ? undefined : (findProvider(name, app)?.id ?? `? ${name}`),
      );
      const { category } = input;
      const [id] = ids;
      const tag =
        id !== undefined ? tags.provider(id) : category !== undefined ? tags.category(category) : tags.domains[0];
      return {
        key: `search ${JSON.stringify([ids, rest, limit, offset])}`,
        tags: [tag],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: UNCHANGED_MS,
      };
    },
  },
  (app, input) => {
    const { q, provider, with: other, limit, offset, flag, without, grade, score_gte, score_lte, ...filter } = input;
    const [known, besides] = [provider, other].map((name) =>
      name === undefined ? undefined : (findProvider(name, app) ?? 'nobody'),
    );
    if (known === 'nobody' || besides === 'nobody') {
      const asked = (known === 'nobody' ? provider : other) ?? '';
      return { total: 0, limit, offset, results: [], did_you_mean: nearestProviders(asked, app.rulebook) };
    }
    const found = searchDomains(
      app.index,
      {
        ...filter,
        part: q,
        provider: known?.id,
        with: besides?.id,
        minConfidence: filter.min_confidence,
        flags: flagsOf(flag),
        without: flagsOf(without),
        score: scoresOf({ grade, score_gte, score_lte }),
      },
      { limit, offset },
    );
    return { total: found.total, limit, offset, results: found.domains.map((domain) => foundDomain(app, domain)) };
  },
);

const SCORES = Array.from({ length: 101 }, (_, score) => score);

/** The range of scores that meets all that is asked of them; undefined where nothing is. */
function scoresOf({ grade, score_gte: min, score_lte: max }: Pick<Asked, 'grade' | 'score_gte' | 'score_lte'>) {
  if (grade === undefined && min === undefined && max === undefined) return undefined;
  const graded = SCORES.filter((score) => grade === undefined || gradeOf(score).toLowerCase() === grade);
  return { from: Math.max(min ?? 0, graded[0] ?? 0), to: Math.min(max ?? 100, graded.at(-1) ?? 100) };
}
