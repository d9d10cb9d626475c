// Questions about news: domains in feeds, and recent events.
import { z } from 'zod';
import { Category, cursorPages, Domain, details, Moment, offsetPages, Provider, Query, question } from '../question.ts';
import { changeLine } from './lines.ts';
import { joined, moment, percent, quoted, signed } from './text.ts';

export const feedStatistics = question({
  name: 'stack_feed_statistics',
  title: 'Feed statistics',
  description:
    'Number of feeds, of their items and of mentions of domains (per_day: the newest days), and the most mentioned domains (top_domains).',
  path: '/stack/v1/feeds/stats',
  input: z.object(offsetPages()),
  list: { at: ['top_domains'], paging: 'here' },
  summarize: ({ feeds, failing, items, mentions, domains, top_domains }) => [
    `${feeds.active} of ${feeds.total} feeds are active, ${failing} fail; ${items} items mention ${domains} domains ${mentions} times.`,
    ...top_domains.map(leaderLine),
  ],
});

export const feedLeaderboard = question({
  name: 'stack_feed_leaderboard',
  title: 'Domains in the news',
  description:
    'The domains that feeds mention most within a window, with their previous rank and movement. For one domain use stack_feed_domain.',
  path: '/stack/v1/feeds/leaderboard',
  input: z.object({ window: z.enum(['1d', '7d', '30d']).default('7d'), query: Query.optional(), ...cursorPages() }),
  list: { at: ['domains'], paging: 'service' },
  summarize: ({ window, total, mentions, domains }) => [
    `${total} domains, ${mentions} mentions within ${window}.`,
    ...domains.map(leaderLine),
  ],
});

export const feedDomain = question({
  name: 'stack_feed_domain',
  title: 'News about a domain',
  description:
    'The news and blog feeds that mention a domain, how often, and the trend (windows, per_day); scanned is the technology profile of the domain, if known.',
  path: '/stack/v1/feeds/domain/{domain}',
  input: z.object({
    domain: Domain,
    ...cursorPages(),
    ...details,
  }),
  list: { at: ['feeds'], paging: 'service' },
  details: [
    'feeds[].site_url',
    'scanned.services[].evidence',
    'scanned.services[].kinds',
    'scanned.services[].explanation',
  ],
  summarize: ({ domain, mentions, last_seen, windows, total, feeds }) => [
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
  title: 'Recent events',
  description:
    'Migrations, service changes, anomalies and advisories in order of publication, for polling: call again with since = next_since of the previous answer to get each event exactly once. Without since: the last hour. gap means that older events are no longer stored.',
  path: '/stack/v1/stream/json',
  input: z.object({
    since: Moment.describe('next_since of an answer; or 2026-01-31, 2026-01-31T12:00:00Z, 7d or 36h ago.').optional(),
    types: z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length).describe('Only these types.').optional(),
    domain: Domain.optional(),
    provider: Provider.optional(),
    category: Category.optional(),
    watchlist: z
      .string()
      .regex(/^wl_[0-9a-f]{24}$/)
      .describe('Only events of its domains.')
      .optional(),
    ...cursorPages(),
  }),
  list: { at: ['events'], paging: 'service' },
  summarize: ({ events, next_since, has_more, gap }) => [
    `${events.length} events${has_more ? ', more available: call again' : ''}; next_since ${next_since}.${gap ? ` A gap from ${gap.from} to ${gap.to}: ${gap.reason}.` : ''}`,
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
