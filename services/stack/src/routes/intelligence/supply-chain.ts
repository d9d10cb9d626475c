// How many domains depend on a provider, and what they use in addition.
import { MIN_SUPPORT, supplyChain } from '@strata/analytics';
import { CATEGORIES, ROLE_LIST } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { dependenceLevel } from '../../reports/dependence-level.ts';
import { Limit, ProviderPath, providerOf } from '../parameters.ts';
import { populationCache, queryParameter, selectionOf } from '../query-parameter.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const DependenceSchema = z.object({ provider: z.string(), provider_id: z.string(), domains: count, share });

export const getSupplyChain = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/supply-chain/{provider}',
    tag: 'Intelligence',
    summary: 'Supply-chain concentration risk for a provider',
    params: ProviderPath,
    query: z.object({
      limit: Limit.describe('Entries of `upstream` and of `downstream`.').default(20),
      ...queryParameter,
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        provider: z.string(),
        provider_id: z.string(),
        owner: z.string(),
        dependent_domains: count.describe('Domains that use it, in any category and with any confidence.'),
        share_by_category: z.record(z.string(), share),
        hhi_by_category: z.record(z.string(), z.number().nullable()),
        share_by_role: z.record(z.string(), share),
        hhi_by_role: z.record(z.string(), z.number().nullable()),
        sole_source_domains: count.describe(
          'Domains with a role in which it is the only provider of high or medium confidence.',
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
    errors: ['unknown_provider', 'unavailable'],
    cache: (app: StackApp, input, context) => {
      const { id } = providerOf(app, input.provider, context);
      return populationCache(input, {
        key: `supply ${id} ${input.limit}`,
        tags: [tags.provider(id), tags.domains[0]],
      });
    },
  },
  async (app, input, context) => {
    const { id, name, owner } = providerOf(app, input.provider, context);
    const { names } = app;
    const options = { within: selectionOf(app, input), ownerOf: names.ownerOf };
    const near = await app.analytics.neighbours(id, options);
    const markets = await app.analytics.markets({ ...options, categories: CATEGORIES, roles: ROLE_LIST });
    const chain = supplyChain(id, near, { markets, limit: input.limit });
    const named = (list: typeof chain.upstream) =>
      list.map(({ provider, ...rest }) => ({ provider: names.nameOf(provider), provider_id: provider, ...rest }));
    return {
      provider: name,
      provider_id: id,
      owner,
      dependent_domains: chain.dependentDomains,
      share_by_category: Object.fromEntries(chain.markets.map((each) => [each.market.category, each.share])),
      hhi_by_category: Object.fromEntries(chain.markets.map((each) => [each.market.category, each.market.hhi])),
      share_by_role: Object.fromEntries(chain.roleMarkets.map((each) => [each.market.role, each.share])),
      hhi_by_role: Object.fromEntries(chain.roleMarkets.map((each) => [each.market.role, each.market.hhi])),
      sole_source_domains: chain.soleSourceDomains,
      upstream: named(chain.upstream),
      downstream: named(chain.downstream),
      ...dependenceLevel(chain, { name, domains: chain.population }),
      definition: `Co-dependence needs ${MIN_SUPPORT} common domains; other brands of ${owner} are excluded.`,
    };
  },
);
