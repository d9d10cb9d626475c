// Questions about the watchlists of the key, and a new one.
import type { StackWrites } from '@strata/client';
import { z } from 'zod';
import { Category, cursorPages, Domain, Name, Provider, Query, question } from '../question.ts';
import { moment, quoted } from './text.ts';

/** A tool returns no secret. */
const SECRETS = ['watchlists[].feed', 'watchlists[].channels[].secret', 'watchlist.feed'];

export const watchlists = question({
  name: 'stack_watchlists',
  title: 'Watchlists',
  description: 'The watchlists of the key: domains or a query, rules, and channels that are notified.',
  path: '/stack/v1/watchlists',
  input: z.object(cursorPages()),
  list: { at: ['watchlists'], paging: 'service' },
  details: SECRETS,
  summarize: ({ watchlists: lists }) => [
    `${lists.length} watchlists.`,
    ...lists.map(
      ({ id, name, domain_count, rules }) =>
        `- ${id} ${quoted(name)}: ${domain_count} domains, ${rules.map(({ kind }) => kind).join(', ')}`,
    ),
  ],
});

export const watchlistNotifications = question({
  name: 'stack_watchlist_notifications',
  title: 'Notifications of a watchlist',
  description: 'What the rules of a watchlist reported, newest first, kept for 120 days.',
  path: '/stack/v1/watchlists/{id}/notifications',
  input: z.object({ id: z.string().regex(/^wl_[0-9a-f]{24}$/), ...cursorPages() }),
  list: { at: ['notifications'], paging: 'service' },
  summarize: ({ notifications }) => [
    `${notifications.length} notifications.`,
    ...notifications.map(({ at, title }) => `- ${moment(at)} ${quoted(title)}`),
  ],
});

const RULES = [
  ...['gained_provider', 'lost_provider', 'migrated_to', 'posture_fell'],
  ...['advisory_known_exploited', 'expires_soon', 'named_in_feed'],
] as const;

export const createWatchlist = question({
  name: 'stack_create_watchlist',
  title: 'Create a watchlist',
  description:
    'Watches domains, or those that match a query, by rules; read what they report with stack_watchlist_notifications. Channels are added on the page.',
  path: '/stack/v1/watchlists',
  isPost: true,
  input: z.object({
    name: Name.max(100),
    domains: z.array(Domain).min(1).max(100).describe('Without query.').optional(),
    query: Query.optional(),
    rules: z
      .array(
        z.strictObject({
          kind: z.enum(RULES),
          provider: Provider.describe('migrated_to: required.').optional(),
          from: Provider.describe('migrated_to.').optional(),
          category: Category.optional(),
          points: z.int().min(1).max(100).describe('posture_fell.').optional(),
          days: z.int().min(1).max(90).describe('expires_soon.').optional(),
        }),
      )
      .min(1)
      .max(10),
  }),
  details: SECRETS,
  summarize(answer) {
    const { watchlist } = answer as unknown as StackWrites['POST /stack/v1/watchlists']['body'];
    return [`${watchlist.id} ${quoted(watchlist.name)} watches ${watchlist.domain_count} domains.`];
  },
});
