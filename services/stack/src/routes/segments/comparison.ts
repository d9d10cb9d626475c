// Compares the domains of two queries: their markets and their scores.
import type { Market, Scorecard, Selection } from '@strata/analytics';
import { CATEGORIES, type Category, ROLE_FACTS, ROLE_LIST } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { CategoryParameter, checkRole, Limit, RoleParameter } from '../parameters.ts';
import { POPULATION_MAX_STALE_MS, QueryText, queryIn } from '../query-parameter.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const SideSchema = z
  .object({
    domains: count,
    scored: count,
    mean_score: z.number().nullable(),
    grades: z.array(z.object({ grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']), domains: count })),
  })
  .meta({ id: 'ComparedDomains' });
const ShareSchema = z
  .object({
    domains: count,
    share: share.nullable().describe('Of `denominator`; a domain with k firm providers gives 1/k to each.'),
  })
  .meta({ id: 'ComparedShare' });
const MarketSideSchema = z
  .object({ domains: count, denominator: count.describe('Base of the shares.'), hhi: z.number().nullable() })
  .meta({ id: 'ComparedMarket' });

const ComparedMarketSchema = z
  .object({
    category: z.enum(CATEGORIES),
    a: MarketSideSchema,
    b: MarketSideSchema,
    total: count.describe('Providers in either.'),
    providers: z
      .array(
        z.object({
          provider: z.string(),
          provider_id: z.string(),
          a: ShareSchema,
          b: ShareSchema,
          difference: z.number().min(-1).max(1).nullable().describe('Share in b minus share in a.'),
        }),
      )
      .describe('Largest difference first.'),
  })
  .meta({ id: 'ComparedMarkets' });

export const getComparison = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/comparison',
    tag: 'Intelligence',
    summary: 'Two segments compared: market shares by category and by role, and scores',
    description:
      'Shares are as in market share, of active domains. Up to 10 seconds old. `segment:name` is a saved segment; a word without a field is part of a name.',
    query: z.object({
      a: QueryText,
      b: QueryText,
      category: CategoryParameter.optional(),
      role: RoleParameter.describe('Only the market of this role; `categories` is then empty.').optional(),
      limit: Limit.describe('Providers of a market.').default(10),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        a: SideSchema,
        b: SideSchema,
        common: count.describe('Domains in both.'),
        categories: z.array(ComparedMarketSchema),
        roles: z
          .array(
            ComparedMarketSchema.extend({ role: z.enum(ROLE_LIST), label: z.string() }).meta({ id: 'ComparedRole' }),
          )
          .describe('The providers that compete: of one role each.'),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, input) => ({
      key: `comparison ${JSON.stringify(input)}`,
      tags: tags.domains,
      maxStaleMs: POPULATION_MAX_STALE_MS,
      maxAgeMs: 60_000,
    }),
  },
  async (app: StackApp, { category, role, limit, ...input }) => {
    checkRole({ category, role });
    const isAsked = (of: Category) => (category ?? of) === of;
    const asked = {
      categories: CATEGORIES.filter((each) => role === undefined && isAsked(each)),
      roles: ROLE_LIST.filter((each) => (role ?? each) === each && isAsked(ROLE_FACTS[each].category)),
    };
    const sideIn = async (field: 'a' | 'b') => {
      const within: Selection = { text: input[field], query: queryIn(app, input[field], field) };
      const markets = await app.analytics.markets({ ...asked, ownerOf: app.names.ownerOf, within });
      const { domains } = await app.analytics.statistics({ within, now: app.clock().getTime() });
      return { within, markets, side: sideOf(domains, await app.analytics.scorecard({ within })) };
    };
    const [a, b] = [await sideIn('a'), await sideIn('b')];
    const both = { query: { kind: 'and', of: [a.within.query, b.within.query] } } as const;
    const compared = (x: Market | undefined, y: Market | undefined) =>
      x && y ? [comparedMarkets(app, [x, y], limit)] : [];
    return {
      ...{ a: a.side, b: b.side },
      common: (await app.analytics.search({ filter: both, limit: 0, offset: 0 })).total,
      categories: asked.categories.flatMap((_, i) => compared(a.markets.categories[i], b.markets.categories[i])),
      roles: asked.roles.flatMap((each, i) =>
        compared(a.markets.roles[i], b.markets.roles[i]).map((market) => ({
          ...{ role: each, label: ROLE_FACTS[each].label },
          ...market,
        })),
      ),
    };
  },
);

function comparedMarkets({ names }: Pick<StackApp, 'names'>, [a, b]: readonly [Market, Market], limit: number) {
  const providers = comparedProviders(a, b);
  const shown = providers.slice(0, limit).map(({ id, ...rest }) => {
    return { provider: names.nameOf(id), provider_id: id, ...rest };
  });
  return { category: a.category, a: marketSide(a), b: marketSide(b), total: providers.length, providers: shown };
}

function sideOf(domains: number, { scored, meanScore, grades }: Scorecard): z.input<typeof SideSchema> {
  return { domains, scored, mean_score: meanScore, grades: [...grades] as never };
}

const marketSide = ({ domains, denominator, hhi }: Market) => ({ domains, denominator, hhi });

function comparedProviders(a: Market, b: Market) {
  const sideOf = ({ denominator, providers }: Market, id: string): z.input<typeof ShareSchema> => {
    const { domains = 0, share = 0 } = providers.find(({ provider }) => provider === id) ?? {};
    return { domains, share: denominator === 0 ? null : share };
  };
  const ids = new Set([...a.providers, ...b.providers].map(({ provider }) => provider));
  const compared = Array.from(ids, (id) => {
    const sides = { a: sideOf(a, id), b: sideOf(b, id) };
    const isKnown = sides.a.share !== null && sides.b.share !== null;
    return { id, ...sides, difference: isKnown ? (sides.b.share ?? 0) - (sides.a.share ?? 0) : null };
  });
  const sizeOf = ({ a, b }: (typeof compared)[number]) => Math.max(a.share ?? 0, b.share ?? 0);
  return compared.sort(
    (x, y) =>
      Math.abs(y.difference ?? 0) - Math.abs(x.difference ?? 0) || sizeOf(y) - sizeOf(x) || (x.id < y.id ? -1 : 1),
  );
}
