// Questions about all domains: markets, migrations, totals and security.
import { z } from 'zod';
import { Category, Name, offsetPages, Provider, pages, Query, question, Role, windowOf } from '../question.ts';
import { changeLine, flowLine } from './lines.ts';
import { days, joined, percent, tenths } from './text.ts';

export const marketShare = question({
  name: 'stack_market_share',
  title: 'Market share and concentration',
  description:
    'Market shares of providers among active domains, and concentration: hhi (0-10,000), band, cr4 (share of the four largest). Providers of one role compete; without category and role, all are returned. Shares are of domains, not of revenue.',
  path: '/stack/v1/intelligence/market-share',
  input: z.object({
    category: Category.optional(),
    role: Role.optional(),
    include_parked: z.boolean().default(false).describe('Also count parked domains. Rarely needed.'),
    query: Query.optional(),
    ...offsetPages(5),
  }),
  list: { at: ['categories[].providers', 'roles[].providers'], paging: 'here' },
  summarize: ({ categories, roles }) => {
    // Of one category, each role has its own competitors.
    const markets = categories.length > 1 || roles.length === 0 ? categories : roles;
    return markets.flatMap((market) => {
      const head = `${market.role ?? market.category}: ${market.domains} domains, HHI ${market.hhi === null ? 'unknown' : Math.round(market.hhi)} (${market.band}), ${market.total} providers`;
      const shares = market.providers.map((each) => `${each.provider} ${percent(each.share)} (${each.domains})`);
      return markets.length === 1
        ? [`${head}:`, ...shares.map((share) => `- ${share}`)]
        : [`${head}: ${shares.join(', ') || 'none'}`];
    });
  },
});

export const migrations = question({
  name: 'stack_migrations',
  title: 'Migrations between providers',
  description:
    'Domains that recently changed the provider of an exclusive role (DNS, mailbox, mail gateway, CDN edge, hosting), newest first; flows has the number of domains by old and new provider within window_days. For domains that stopped or started using a provider: stack_provider_customers; for one domain: stack_domain_changes.',
  path: '/stack/v1/stats/migrations',
  input: z.object({
    provider: Provider.optional(),
    direction: z.enum(['in', 'out']).describe('To the provider, or away from it.').optional(),
    other: Name.describe('The other provider of the migration; with provider.').optional(),
    category: Category.optional(),
    query: Query.optional(),
    ...windowOf(60),
    ...pages(),
  }),
  list: { at: ['migrations'], paging: 'service' },
  summarize: ({ total, window_days, migrations: moved, flows }) => [
    `${total} migrations within ${days(window_days)} days.`,
    ...flows.slice(0, 10).map((flow) => `- ${flowLine(flow)} domains`),
    ...(moved.length > 0 ? ['Newest:'] : []),
    ...moved.map((change) => `- ${change.domain} ${changeLine(change)}`),
  ],
});

export const statistics = question({
  name: 'stack_statistics',
  title: 'Totals',
  description:
    'Size of the data set: domains by state, services, providers, categories, scans, and migrations within 24 hours, 7 and 30 days. Use it to judge the significance of a share or of a missing domain.',
  path: '/stack/v1/stats',
  input: z.object({ query: Query.optional() }),
  summarize: (answer) => [
    `${answer.domains} domains (${joined(
      Object.entries(answer.domains_by_state).map(([state, count]) => `${state} ${count}`),
      ', ',
    )}), ${answer.services} services of ${answer.providers} providers${answer.scans === null ? '' : `, ${answer.scans} scans`}.`,
    `Migrations: ${answer.migrations.last_24h} in 24 hours, ${answer.migrations.last_7d} in 7 days, ${answer.migrations.last_30d} in 30 days.`,
    ...answer.by_category.map(
      ({ category, domains, providers }) => `- ${category}: ${domains} domains, ${providers} providers`,
    ),
  ],
});

export const securityScorecard = question({
  name: 'stack_security_scorecard',
  title: 'Security scorecard of all domains',
  description:
    'Adoption of SPF, DMARC (by published and effective policy), MTA-STS, TLS-RPT, DNSSEC, CAA, BIMI and trusted certificates: share = domains / measured. Grades and mean score, and the same by_sector, which limit and offset page. For one domain use stack_domain.',
  path: '/stack/v1/intelligence/security-scorecard',
  input: z.object({ query: Query.optional(), ...offsetPages(2) }),
  list: { at: ['by_sector'], paging: 'here' },
  summarize: ({ domains, adoption, both, grades, mean_score, by_sector }) => [
    `${domains} domains, mean score ${tenths(mean_score)}; grades ${joined(
      grades.map(({ grade, domains: count }) => `${grade} ${count}`),
      ', ',
    )}.`,
    dmarcLine(adoption),
    `SPF and DMARC both: ${percent(both.share)}.`,
    joined(
      Object.entries(adoption).map(([standard, { share }]) => `${standard} ${percent(share)}`),
      ', ',
    ),
    ...by_sector.map(
      ({ sector, domains: count, adoption: of, mean_score: score }) =>
        `- sector ${sector}: ${count} domains, mean score ${tenths(score)}, DMARC ${percent(of.dmarc.share)}, SPF ${percent(of.spf.share)}, DNSSEC ${percent(of.dnssec.share)}`,
    ),
  ],
});

type Adoption = Readonly<
  Record<
    `dmarc${'' | '_none' | '_quarantine' | '_reject'}`,
    { domains: number; measured: number; share: number | null }
  >
>;

/** The policies and the domains without one add up to those that were measured. */
const dmarcLine = ({ dmarc, dmarc_none: none, dmarc_quarantine: quarantine, dmarc_reject: reject }: Adoption): string =>
  `DMARC: ${dmarc.domains} of ${dmarc.measured} domains (${percent(dmarc.share)}): policy none ${none.domains}, quarantine ${quarantine.domains}, reject ${reject.domains}; ${dmarc.measured - dmarc.domains} without DMARC.`;

export const comparison = question({
  name: 'stack_compare',
  title: 'Two segments compared',
  description:
    'The market shares of providers, by category, and the scores of the domains of two queries a and b; difference is the share in b minus that in a. segment:name in a query is a segment that the key has saved.',
  path: '/stack/v1/intelligence/comparison',
  input: z.object({
    a: Query,
    b: Query,
    category: Category.optional(),
    role: Role.optional(),
    limit: z.int().min(1).max(50).default(3).describe('Providers of a market, largest difference first.'),
  }),
  summarize: ({ a, b, common, categories, roles }) => [
    `a: ${a.domains} domains, mean score ${tenths(a.mean_score)}; b: ${b.domains}, ${tenths(b.mean_score)}; ${common} in both.`,
    ...(a.domains * b.domains === 0 ? ['A word without a field is part of a name; a segment is segment:name.'] : []),
    // Of one category, each role has its own competitors.
    ...(categories.length > 1 ? categories.map((each) => ({ ...each, role: each.category })) : roles).flatMap(
      ({ role, providers }) =>
        providers.map(
          (each) => `- ${role} ${each.provider}: ${percent(each.a.share)} in a, ${percent(each.b.share)} in b`,
        ),
    ),
  ],
});
