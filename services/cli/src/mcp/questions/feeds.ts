// Questions about the news: which domains feeds name, and what happened since the last time.
import { z } from 'zod';
import { Category, Domain, details, firstPages, MAX_AT_ONCE, Provider, pages, question } from '../question.ts';
import { changeLine } from './lines.ts';
import { joined, moment, percent, quoted, signed } from './text.ts';

export const feedStatistics = question({
  name: 'stack_feed_statistics',
  title: 'How much feeds say',
  description:
    'How many feeds are read, how many items and mentions of domains they had (per_day: the newest days), and the domains named most (top_domains).',
  path: '/stack/v1/feeds/stats',
  input: z.object(pages()),
  list: { at: ['top_domains'], paging: 'here' },
  tell: ({ feeds, failing, items, mentions, domains, top_domains }) => [
    `${feeds.active} of ${feeds.total} feeds are read, ${failing} fail; ${items} items name ${domains} domains ${mentions} times.`,
    ...top_domains.map(leaderLine),
  ],
});

export const feedLeaderboard = question({
  name: 'stack_feed_leaderboard',
  title: 'Domains in the news',
  description:
    'Domains that feeds name most within a window, with the rank before and the movement since. For one of them ask stack_feed_domain.',
  path: '/stack/v1/feeds/leaderboard',
  input: z.object({ window: z.enum(['1d', '7d', '30d']).default('7d'), ...firstPages() }),
  list: { at: ['domains'], paging: 'limit' },
  tell: ({ window, total, mentions, domains }) => [
    `${total} domains, ${mentions} mentions within ${window}.`,
    ...domains.map(leaderLine),
  ],
});

export const feedDomain = question({
  name: 'stack_feed_domain',
  title: 'Who writes about a domain',
  description:
    'Which news and blog feeds name a domain, how often, and whether that rises (windows, per_day); scanned is what the domain runs, where that is known.',
  path: '/stack/v1/feeds/domain/{domain}',
  input: z.object({
    domain: Domain,
    ...pages(),
    ...details,
  }),
  list: { at: ['feeds'], paging: 'here' },
  details: [
    'feeds[].site_url',
    'scanned.services[].evidence',
    'scanned.services[].kinds',
    'scanned.services[].explanation',
  ],
  tell: ({ domain, mentions, last_seen, windows, total, feeds }) => [
    `${domain}: ${mentions} mentions in ${total} feeds, last ${moment(last_seen)}.`,
    joined(
      windows.map((each) => `${each.window}: ${each.mentions} (${each.trend})`),
      ', ',
    ),
    ...feeds.map(
      ({ url, title, mentions: count, latest }) =>
        `- ${quoted(title ?? url)}: ${count}, latest ${quoted(latest.title ?? latest.url ?? '')} ${moment(latest.published)}`,
    ),
  ],
});

const EVENT_TYPES = ['migration', 'anomaly', 'service_change', 'advisory'] as const;

export const recentEvents = question({
  name: 'stack_recent_events',
  title: 'What happened since',
  description:
    'Migrations, service changes, anomalies and advisories in the order in which they became known, for polling: ask again with since = next_since of the answer before, and each event is seen exactly once. Without since: the last hour. gap says that older events are no longer kept. Where left_out names events, ask again with the same since and a smaller limit.',
  path: '/stack/v1/stream/json',
  input: z.object({
    since: z.string().trim().max(64).describe('next_since of an answer, or a time in ISO 8601 with a zone.').optional(),
    types: z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length).describe('Only these.').optional(),
    domain: Domain.optional(),
    provider: Provider.optional(),
    category: Category.optional(),
    limit: z.int().min(1).max(MAX_AT_ONCE).default(10).describe('How many events at most; keep it small.'),
  }),
  list: { at: ['events'], paging: 'service' },
  tell: ({ events, next_since, has_more, gap }) => [
    `${events.length} events${has_more ? ', and more: ask again' : ''}; next_since ${next_since}.${gap ? ` A gap from ${gap.from} to ${gap.to}: ${gap.reason}.` : ''}`,
    ...events.map((event) => {
      switch (event.type) {
        case 'migration':
        case 'service_change':
          return `- ${event.domain} ${changeLine(event.change)}`;
        case 'anomaly':
          return `- ${moment(event.at)} anomaly of ${event.anomaly.subject}: ${event.anomaly.metric} ${event.anomaly.value} against ${event.anomaly.mean.toFixed(1)}`;
        case 'advisory':
          return `- ${joined([moment(event.at), event.domain, event.reason], ' ')}: ${event.advisories.map(({ id }) => id).join(', ')}`;
        default:
          return event satisfies never;
      }
    }),
  ],
});

function leaderLine(each: {
  readonly rank: number;
  readonly domain: string;
  readonly mentions: number;
  readonly feeds: number;
  readonly share: number;
  readonly movement: number | null;
}): string {
  const moved = each.movement === null ? 'new' : signed(each.movement);
  return `${each.rank}. ${each.domain}: ${each.mentions} mentions in ${each.feeds} feeds, ${percent(each.share)} (${moved})`;
}
