// The API representation of a market.
import type { Market, RoleMarket } from '@strata/analytics';
import { CATEGORIES, ROLE_FACTS, ROLE_LIST } from '@strata/detect';
import { z } from 'zod';
import type { KnownNames } from '../index/known-names.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

export const MarketSchema = z
  .object({
    category: z.enum(CATEGORIES),
    role: z.enum(ROLE_LIST).nullable().describe('Null for all roles of the category.'),
    domains: count.describe('Domains with the role: attributed, self-hosted and unknown.'),
    denominator: count.describe('Base of shares and HHI: attributed and self-hosted domains.'),
    attributed_share: share.nullable(),
    self_hosted_share: share.nullable(),
    unknown_share: share.nullable(),
    unmeasured: count.describe('Domains whose role could not be measured; excluded from all other numbers.'),
    hhi: z.number().min(0).max(10_000).nullable().describe('HHI by brand.'),
    hhi_by_owner: z.number().min(0).max(10_000).nullable(),
    band: z
      .enum(['unconcentrated', 'moderate', 'high', 'insufficient_data'])
      .describe('`insufficient_data` below 200 domains or with less than half of them attributed.'),
    cr4: share.nullable().describe('Share of the four largest providers.'),
    effective_providers: z
      .number()
      .nullable()
      .describe('10,000 / HHI: the number of equal providers with the same concentration.'),
    total: count.describe('Providers in this market.'),
    providers: z.array(
      z.object({
        provider: z.string(),
        provider_id: z.string(),
        owner: z.string(),
        domains: count,
        share,
        change_30d: z
          .int()
          .nullable()
          .describe(
            'Domains gained minus domains lost in this category with any confidence, confirmed within 30 days. Null with `query`.',
          ),
      }),
    ),
  })
  .meta({ id: 'Market' });

export const RoleMarketSchema = MarketSchema.extend({
  role: z.enum(ROLE_LIST),
  label: z.string(),
  is_exclusive: z.boolean().describe('One holder at a time: a change of holder is a migration.'),
  is_critical: z.boolean().describe('Without its provider, mail or the site does not work.'),
}).meta({ id: 'RoleMarket' });

type ReportOptions = Parameters<typeof marketReport>[1];

export function roleMarketReport(market: RoleMarket, options: ReportOptions): z.input<typeof RoleMarketSchema> {
  const { role } = market;
  const { label, isExclusive = false, isCritical = false } = ROLE_FACTS[role];
  return { ...marketReport(market, options), role, label, is_exclusive: isExclusive, is_critical: isCritical };
}

export function marketReport(
  market: Market,
  { names, max }: { readonly names: KnownNames; readonly max: number },
): z.input<typeof MarketSchema> {
  const of = (part: number) => (market.domains === 0 ? null : part / market.domains);
  return {
    category: market.category,
    role: market.role,
    domains: market.domains,
    denominator: market.denominator,
    attributed_share: of(market.attributed),
    self_hosted_share: of(market.selfHosted),
    unknown_share: of(market.unknown),
    unmeasured: market.unmeasured,
    hhi: market.hhi,
    hhi_by_owner: market.hhiByOwner,
    band: market.band,
    cr4: market.cr4,
    effective_providers: market.effectiveProviders,
    total: market.providers.length,
    providers: market.providers.slice(0, max).map(({ provider, domains, share, change30d = null }) => ({
      provider: names.nameOf(provider),
      provider_id: provider,
      owner: names.ownerOf(provider),
      domains,
      share,
      change_30d: change30d,
    })),
  };
}
