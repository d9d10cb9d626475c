// Questions about providers: their domains, growth and dependencies.
import { z } from 'zod';
import { cursorPages, details, offsetPages, Provider, pages, Query, question, windowOf } from '../question.ts';
import { advisoryCounts, flowLine } from './lines.ts';
import { days as daysText, joined, percent, signed } from './text.ts';

export const provider = question({
  name: 'stack_provider',
  title: 'Provider profile',
  description:
    'A provider: the number of its domains and the first of them (domains.results), its rank and share in each market, domains gained and lost in 30 days, to and from whom (flows_30d), and known vulnerabilities; with details also the patterns that show it and their sources (catalog). The error unknown_provider has suggestions.',
  path: '/stack/v1/providers/{provider}',
  input: z.object({ provider: Provider, ...pages(), ...details }),
  list: { at: ['domains.results'], paging: 'service' },
  details: ['aliases', 'kinds', 'catalog', 'domains.results[].services', 'flows_30d[].from_id', 'flows_30d[].to_id'],
  summarize: (answer) => {
    const { market, domains } = answer;
    return [
      `${answer.provider} (${answer.provider_id}), owner ${answer.owner}: ${domains.total} domains, ${percent(market.share)} of all, rank ${market.rank ?? 'unknown'}; 30 days ${signed(market.change_30d)} (+${answer.gained_30d}, -${answer.lost_30d}).`,
      ...market.by_category.map(
        ({ category, share, rank, providers, hhi, band }) =>
          `- ${category}: ${percent(share)}, rank ${rank} of ${providers}, HHI ${hhi === null ? 'unknown' : Math.round(hhi)} (${band})`,
      ),
      ...(answer.flows_30d.length > 0 ? ['Moved within 30 days:'] : []),
      ...answer.flows_30d.map((flow) => `- ${flowLine(flow)}`),
      `Domains: ${domains.results.map(({ domain }) => domain).join(', ') || 'none'}.`,
      ...(answer.advisories
        ? advisoryCounts(answer.advisories)
        : ['Advisories: no advisory names a product of this provider.']),
    ];
  },
});

export const providerCustomers = question({
  name: 'stack_provider_customers',
  title: 'Lost and gained customers',
  description:
    'The domains that stopped (direction out) or started (in) using a provider within days, newest first; moves has the changes of the domain to or from other providers at that time, and so its destination or origin.',
  path: '/stack/v1/providers/{provider}/customers',
  input: z.object({
    provider: Provider,
    direction: z.enum(['in', 'out']).default('out'),
    ...windowOf(365, '; 30 by default'),
    ...pages(),
  }),
  list: { at: ['customers'], paging: 'service' },
  summarize: ({ provider: name, direction, days, since, total, customers }) => [
    `${name} ${direction === 'in' ? 'gained' : 'lost'} ${total} domains within ${daysText(days)} days (since ${since}).`,
    ...customers.map(
      ({ domain, moves }) =>
        `- ${domain}${moves.length > 0 ? `: ${moves.map((move) => `${move.category} ${direction === 'in' ? 'from' : 'to'} ${move.provider}`).join(', ')}` : ''}`,
    ),
  ],
});

export const supplyChain = question({
  name: 'stack_supply_chain',
  title: 'Supply chain risk of a provider',
  description:
    'Concentration risk of a provider: dependent domains, domains without a second provider (sole_source_domains), its share and the HHI of its markets, risk_level with reasons. upstream: other providers that its domains use; downstream: providers whose domains mostly use it. Neither is a statement about purchases between providers.',
  path: '/stack/v1/intelligence/supply-chain/{provider}',
  input: z.object({ provider: Provider, query: Query.optional(), ...offsetPages() }),
  list: { at: ['upstream', 'downstream'], paging: 'here' },
  summarize: (answer) => [
    `${answer.provider}: risk ${answer.risk_level}; ${answer.dependent_domains} domains depend on it, ${answer.sole_source_domains} of them without a second provider.`,
    ...answer.reasons.map((reason) => `- ${reason}`),
    `Upstream: ${shares(answer.upstream)}.`,
    `Downstream: ${shares(answer.downstream)}.`,
  ],
});

export const adoption = question({
  name: 'stack_adoption',
  title: 'Adoption of a provider',
  description:
    'The number of domains that use a provider, by day (curve, oldest first; the newest days are kept), and the providers used together with it (co_adoption: jaccard is the overlap; lift is the ratio to the frequency expected by chance).',
  path: '/stack/v1/intelligence/adoption/{tool}',
  input: z.object({
    tool: Provider,
    query: Query.optional(),
    days: z.int().min(1).max(366).default(14).describe('Maximum days of the curve; the newest are kept.'),
    ...offsetPages(),
  }),
  list: { at: ['co_adoption'], paging: 'here' },
  cuts: { days: 'curve' },
  summarize: ({ tool, domains, share, curve, co_adoption }) => {
    const [first, last] = [curve[0], curve.at(-1)];
    return [
      `${tool}: ${domains} domains, ${percent(share)} of all.`,
      first && last
        ? `From ${first.date} (${first.domains}) to ${last.date} (${last.domains}): +${sum(curve.map(({ added }) => added))}, -${sum(curve.map(({ removed }) => removed))}.`
        : 'No curve yet.',
      ...co_adoption.map(
        (each) =>
          `- with ${each.provider}: ${each.domains} domains, jaccard ${each.jaccard.toFixed(2)}, lift ${each.lift.toFixed(2)}`,
      ),
    ];
  },
});

export const leaderboard = question({
  name: 'stack_leaderboard',
  title: 'Leading providers',
  description:
    'The providers with the most domains, over all categories: rank, domains, share of all scanned domains, change_30d. For one market (DNS, email …) use stack_market_share.',
  path: '/stack/v1/stats/providers',
  input: z.object({ query: Query.optional(), ...cursorPages() }),
  list: { at: ['providers'], paging: 'service' },
  summarize: ({ total, providers }) => [
    `${total} providers are in use.`,
    ...providers.map(
      (each) =>
        `${each.rank}. ${each.provider} (${each.categories.join(', ')}): ${each.domains} domains, ${percent(each.share)}${each.change_30d === null ? '' : `, 30 days ${signed(each.change_30d)}`}`,
    ),
  ],
});

function shares(list: readonly { readonly provider: string; readonly share: number }[]): string {
  return (
    joined(
      list.map((each) => `${each.provider} ${percent(each.share)}`),
      ', ',
    ) || 'none'
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
