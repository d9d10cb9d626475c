// The API representation of domains in feeds.
import { type DomainMentions, type MentionLeader, WINDOW_NAMES } from '@strata/feeds';
import { z } from 'zod';
import type { KnownNames } from '../index/known-names.ts';
import { dateOf } from '../index/live-index.ts';
import { domainReport, ServiceSchema } from '../reports/domain-report.ts';
import type { NamingFeed, StoredProfile } from '../store/index.ts';

const count = z.int().min(0);
const Time = z.iso.datetime();
const Grade = z.enum(['A+', 'A', 'B', 'C', 'D', 'F']);
export const WindowName = z.enum(WINDOW_NAMES);

export const MentionDaySchema = z.object({ date: z.iso.date(), mentions: count }).meta({ id: 'MentionDay' });

export const FeedLeaderSchema = z
  .object({
    rank: z.int().min(1).describe('Equal counts share a rank: 1, 2, 2, 4.'),
    domain: z.string(),
    mentions: count,
    feeds: count.describe('Feeds that mentioned it within the window.'),
    previous_rank: z.int().min(1).nullable().describe('Rank in the previous window; null if not mentioned in it.'),
    movement: z.int().nullable().describe('Ranks gained since the previous window; null without a previous rank.'),
    share: z.number().min(0).max(1).describe('Share of all mentions within the window.'),
    tracked: z.boolean().describe('Whether it has been scanned, or waits for its first scan.'),
    score: z.number().min(0).max(100).nullable().describe('Security score of the latest scan.'),
    grade: Grade.nullable(),
  })
  .meta({ id: 'FeedLeader' });

const WindowSchema = z
  .object({
    window: WindowName,
    mentions: count,
    feeds: count,
    previous: count.describe('Mentions in the previous window of the same length.'),
    change: z.int(),
    trend: z
      .enum(['new', 'up', 'down', 'same', 'none'])
      .describe('new: not mentioned before; none: mentioned in neither window.'),
  })
  .meta({ id: 'MentionWindow' });

const NamingFeedSchema = z
  .object({
    url: z.string(),
    title: z.string().nullable(),
    site_url: z.string().nullable(),
    mentions: count,
    last_seen: Time,
    latest: z.object({ title: z.string().nullable(), url: z.string().nullable(), published: Time.nullable() }),
  })
  .meta({ id: 'NamingFeed' });

export const FeedDomainSchema = z.object({
  domain: z.string(),
  mentions: count.describe('In all retained items.'),
  first_seen: Time.nullable(),
  last_seen: Time.nullable(),
  windows: z.array(WindowSchema),
  per_day: z.array(MentionDaySchema).describe('The last 30 UTC days, including today.'),
  total: count.describe('Feeds that mention it.'),
  feeds: z.array(NamingFeedSchema).describe('Feeds with the most mentions first.'),
  scanned: z
    .object({
      scanned_at: Time,
      state: z.enum(['active', 'parked', 'nonexistent', 'unmeasured']),
      sector: z.string(),
      services: z.array(ServiceSchema),
      score: z.number().min(0).max(100).nullable(),
      grade: Grade.nullable(),
    })
    .nullable()
    .describe('Its services, if it has been scanned.'),
});

export function daysReport(
  days: readonly { readonly day: number; readonly mentions: number }[],
): z.input<typeof MentionDaySchema>[] {
  return days.map(({ day, mentions }) => ({ date: dateOf(day), mentions }));
}

/** A leader without its scan results. */
export function leaderReport({ rank, domain, mentions, feeds, previousRank }: MentionLeader, all: number) {
  return {
    rank,
    domain,
    mentions,
    feeds,
    previous_rank: previousRank,
    movement: previousRank === null ? null : previousRank - rank,
    share: mentions / all,
  };
}

export function windowsReport({ windows }: DomainMentions): z.input<typeof WindowSchema>[] {
  return WindowName.options.map((window) => {
    const { mentions, previous, feeds } = windows[window];
    return { window, mentions, feeds, previous, change: mentions - previous, trend: trendOf(mentions, previous) };
  });
}

function trendOf(mentions: number, previous: number): z.input<typeof WindowSchema>['trend'] {
  if (previous === 0) return mentions === 0 ? 'none' : 'new';
  if (mentions === previous) return 'same';
  return mentions > previous ? 'up' : 'down';
}

export function namingFeedReport({ url, title, siteUrl, mentions, lastAt, latest }: NamingFeed) {
  return {
    url,
    title,
    site_url: siteUrl,
    mentions,
    last_seen: lastAt.toISOString(),
    latest: { title: latest.title, url: latest.url, published: latest.publishedAt?.toISOString() ?? null },
  };
}

export function scannedReport(profile: StoredProfile, names: KnownNames) {
  const { scanned_at, state, sector, services, security } = domainReport(profile, { names, advisories: null });
  return { scanned_at, state, sector, services, score: security.score, grade: security.grade };
}
