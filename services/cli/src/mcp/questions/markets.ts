// Questions about all domains together: markets, movements, totals and how safe they are.
import { z } from 'zod';
import { Category, Name, Provider, pages, question } from '../question.ts';
import { changeLine, flowLine } from './lines.ts';
import { joined, percent, tenths } from './text.ts';

export const marketShare = question({
  name: 'stack_market_share',
  title: 'Market share and concentration',
  description:
    'Who holds which share of a market, and how concentrated it is: hhi (0-10,000), band, cr4 (share of the four largest), of active domains. Give a category; without one all ten come. Shares are of domains, not of revenue.',
  path: '/stack/v1/intelligence/market-share',
  input: z.object({
    category: Category.optional(),
    include_parked: z.boolean().default(false).describe('Count parked names too, which few questions want.'),
    ...pages(5),
  }),
  list: { at: ['categories[].providers'], paging: 'here' },
  tell: ({ categories }) =>
    categories.map(
      (market) =>
        `${market.category}: ${market.domains} domains, HHI ${market.hhi === null ? 'unknown' : Math.round(market.hhi)} (${market.band}), ${market.total} providers: ${market.providers.map((each) => `${each.provider} ${percent(each.share)} (${each.domains})`).join(', ') || 'none'}`,
    ),
});

export const migrations = question({
  name: 'stack_migrations',
  title: 'Who moved where',
  description:
    'Domains that lately changed the holder of an exclusive role (DNS, mailbox, mail gateway, CDN edge, hosting), newest first, and in flows how many went from whom to whom within window_days. Of one provider that domains left or came to whole: stack_provider_customers; for one domain stack_domain_changes.',
  path: '/stack/v1/stats/migrations',
  input: z.object({
    provider: Provider.optional(),
    direction: z.enum(['in', 'out']).describe('To the provider, or away from it.').optional(),
    other: Name.describe('The provider at the other end; with provider.').optional(),
    category: Category.optional(),
    days: z.int().min(1).max(60).describe('The last so many UTC days.').optional(),
    hours: z.int().min(1).max(1_440).describe('The last so many hours; goes before days.').optional(),
    ...pages(),
  }),
  list: { at: ['migrations'], paging: 'service' },
  tell: ({ total, window_days, migrations: moved, flows }) => [
    `${total} migrations within ${window_days} days.`,
    ...flows.slice(0, 10).map((flow) => `- ${flowLine(flow)} domains`),
    ...(moved.length > 0 ? ['Newest:'] : []),
    ...moved.map((change) => `- ${change.domain} ${changeLine(change)}`),
  ],
});

export const statistics = question({
  name: 'stack_statistics',
  title: 'Totals',
  description:
    'How much this service knows: domains by state, services, providers, categories, scans, and migrations within 24 hours, 7 and 30 days. Ask it to judge how much a share or a missing domain means.',
  path: '/stack/v1/stats',
  input: z.object({}),
  tell: (answer) => [
    `${answer.domains} domains (${joined(
      Object.entries(answer.domains_by_state).map(([state, count]) => `${state} ${count}`),
      ', ',
    )}), ${answer.services} services of ${answer.providers} providers, ${answer.scans} scans.`,
    `Migrations: ${answer.migrations.last_24h} in 24 hours, ${answer.migrations.last_7d} in 7 days, ${answer.migrations.last_30d} in 30 days.`,
    ...answer.by_category.map(
      ({ category, domains, providers }) => `- ${category}: ${domains} domains, ${providers} providers`,
    ),
  ],
});

export const securityScorecard = question({
  name: 'stack_security_scorecard',
  title: 'How safe all domains are',
  description:
    'How many domains have SPF, DMARC (by published and effective policy), MTA-STS, TLS-RPT, DNSSEC, CAA, BIMI and a trusted certificate: share = domains / measured. Grades and mean score, and the same by_sector, which limit and offset are of. For one domain ask stack_domain.',
  path: '/stack/v1/intelligence/security-scorecard',
  input: z.object(pages(2)),
  list: { at: ['by_sector'], paging: 'here' },
  tell: ({ domains, adoption, both, grades, mean_score, by_sector }) => [
    `${domains} domains, mean score ${tenths(mean_score)}; grades ${joined(
      grades.map(({ grade, domains: count }) => `${grade} ${count}`),
      ', ',
    )}.`,
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
