// Domains in subscribed feeds: counts, a leaderboard, and the profile of one domain. docs/feeds.md has the definitions.

import type { Query } from '@strata/analytics';
import { gradeOf } from '@strata/detect';
import { type MentionTally, type MentionWindow, WINDOW_NAMES } from '@strata/feeds';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import {
  daysReport,
  FeedDomainSchema,
  FeedLeaderSchema,
  leaderReport,
  MentionDaySchema,
  namingFeedReport,
  scannedReport,
  WindowName,
  windowsReport,
} from '../feeds/feed-report.ts';
import { matchingAmong } from '../index/domain-queries.ts';
import { MAX_STALE_MS, tags } from '../index/live-index.ts';
import { inSlices } from '../index/segment-counts.ts';
import { domainOf, domainParams } from './domains/domains.ts';
import { DomainName, pageFields, pageOf, pageParameters } from './paging.ts';
import { Word } from './parameters.ts';
import { populationCache, queryIn, queryParameter } from './query-parameter.ts';

/** Polls by other processes do not invalidate the cache: maximum age of an answer. */
const MAX_AGE_MS = 60_000;
const DAYS = 30;
const TOP = 10;
const count = z.int().min(0);

export const getFeedStats = route(
  {
    method: 'GET',
    path: '/stack/v1/feeds/stats',
    tag: 'Feeds',
    summary: 'Aggregate statistics of RSS feed domains',
    description:
      'Subscribed feeds, their items and mentioned domains. While feeds are polled it is recomputed at most every 0.6 s; `computed_at` is the time.',
    output: {
      kind: 'signed',
      schema: z.object({
        feeds: z.object({ total: count, active: count, gone: count }),
        polled: count.describe('Active feeds that were polled at least once.'),
        failing: count.describe('Active feeds whose last poll failed.'),
        items: count.describe('Retained items.'),
        mentions: count.describe('Mentions of domains in these items.'),
        domains: count.describe('Domains mentioned within the last 30 days.'),
        per_day: z.array(MentionDaySchema).describe('Mentions on each of the last 30 UTC days, including today.'),
        top_domains: z.array(FeedLeaderSchema).describe('The top ten of the last seven days.'),
        last_poll: z.iso.datetime().nullable(),
        computed_at: z.iso.datetime(),
      }),
    },
    cache: () => ({
      key: 'feed stats',
      tags: [...tags.mentions, ...tags.polls, ...tags.domains],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: MAX_AGE_MS,
    }),
  },
  async (app: StackApp) => {
    const { active, gone, polled, failing, items, mentions, lastPollAt } = await app.store.feeds.summary();
    const tally = app.mentions.tally();
    const { leaders } = await leadersOf(app, tally, '7d', { limit: TOP });
    return {
      feeds: { total: active + gone, active, gone },
      polled,
      failing,
      items,
      mentions,
      domains: tally.leaderboard('30d', 1).total,
      per_day: daysReport(tally.perDay(DAYS)),
      top_domains: leaders,
      last_poll: lastPollAt?.toISOString() ?? null,
      computed_at: app.clock().toISOString(),
    };
  },
);

/** Mentions, and the number of the feed. */
const NAMING = { name: 'naming feeds', key: z.tuple([z.int(), z.int()]).readonly() };
const LEADERS = { name: 'feed leaders', key: z.tuple([z.int(), DomainName]).readonly() };

export const getFeedLeaders = route(
  {
    method: 'GET',
    path: '/stack/v1/feeds/leaderboard',
    tag: 'Feeds',
    summary: 'Feed domain leaderboard',
    description:
      'Domains by the number of items in subscribed feeds that mention them, within the last one, seven or thirty UTC days including today, with the rank in the previous window of the same length.',
    query: z.object({ ...pageParameters(20), window: Word(WINDOW_NAMES).default('7d'), ...queryParameter }),
    output: {
      kind: 'signed',
      schema: z.object({
        window: WindowName,
        total: count.describe('Domains mentioned within the window.'),
        mentions: count.describe('Mentions of all domains.'),
        ...pageFields,
        domains: z.array(FeedLeaderSchema),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, input) =>
      populationCache(input, {
        key: `feed leaders ${JSON.stringify(input)}`,
        tags: [...tags.mentions, ...tags.domains],
        maxAgeMs: MAX_AGE_MS,
      }),
  },
  async (app, input) => {
    const { window, query } = input;
    const page = pageOf(input, LEADERS, query === undefined ? window : [window, query]);
    const within = query === undefined ? undefined : queryIn(app, query);
    const { total, mentions, leaders } = await leadersOf(app, app.mentions.tally(), window, { ...page.query, within });
    const { rows, fields } = page.cut(leaders, (leader) => [leader.mentions, leader.domain] as const);
    return { window, total, mentions, ...fields, domains: [...rows] };
  },
);

export const getFeedDomain = route(
  {
    method: 'GET',
    path: '/stack/v1/feeds/domain/{domain}',
    tag: 'Feeds',
    summary: 'Profile of one feed domain',
    description:
      'How often and by which feeds the domain is mentioned, and its services if it has been scanned. A domain without mentions has zeros.',
    params: domainParams,
    query: z.object(pageParameters(50)),
    output: { kind: 'signed', schema: FeedDomainSchema.extend(pageFields) },
    errors: ['invalid_domain'],
    cache: (_app: StackApp, input, context) => {
      const domain = domainOf(input.domain, context);
      return {
        key: `feed domain ${JSON.stringify([domain, input.limit, input.cursor])}`,
        tags: [tags.mentionsOf(domain), ...tags.mentionsOfAny, tags.domain(domain)],
        maxStaleMs: MAX_STALE_MS,
        maxAgeMs: MAX_AGE_MS,
      };
    },
  },
  async (app, input, context) => {
    const domain = domainOf(input.domain, context);
    const { mentions } = app.store.feeds;
    const facts = await mentions.domain(domain);
    const page = pageOf(input, NAMING, domain);
    const { limit, after } = page.query;
    const { rows, fields } = page.cut(
      facts ? await mentions.feedsNaming(domain, limit, after) : [],
      (feed) => [feed.mentions, feed.id] as const,
    );
    const profile = await app.store.domains.profile(domain);
    const tally = app.mentions.tally();
    const counted = tally.domain(domain, DAYS);
    const days = tally.perDay(DAYS).map(({ day }, at) => ({ day, mentions: counted.days[at] ?? 0 }));
    return {
      domain,
      mentions: facts?.mentions ?? 0,
      first_seen: facts?.firstAt.toISOString() ?? null,
      last_seen: facts?.lastAt.toISOString() ?? null,
      windows: windowsReport(counted),
      per_day: daysReport(days),
      total: facts?.feeds ?? 0,
      ...fields,
      feeds: rows.map(namingFeedReport),
      scanned: profile ? scannedReport(profile, app.names) : null,
    };
  },
);

/** Leaders with their scan results. */
async function leadersOf(
  { store, analytics }: StackApp,
  tally: MentionTally,
  window: MentionWindow,
  options: {
    readonly limit: number;
    readonly after?: readonly [number, string];
    /** Only these domains. */
    readonly within?: Query | undefined;
  },
) {
  const { limit, within, ...rest } = options;
  const marks = within && (await marksOf(analytics, tally, { window, within }));
  const { total, mentions, leaders } = tally.leaderboard(window, limit, { ...rest, marks });
  const scores = await store.lists.scoresOf(leaders.map(({ domain }) => domain));
  return {
    total,
    mentions,
    leaders: leaders.map((leader) => {
      const score = scores.get(leader.domain) ?? null;
      const scan = { tracked: scores.has(leader.domain), score, grade: score === null ? null : gradeOf(score) };
      return { ...leaderReport(leader, mentions), ...scan };
    }),
  };
}

/** Marks the mentioned domains that match a query. */
async function marksOf(
  analytics: StackApp['analytics'],
  tally: MentionTally,
  { window, within }: { readonly window: MentionWindow; readonly within: Query },
): Promise<Uint8Array> {
  const mentioned: string[] = [];
  await inSlices(tally.marks(window, (domain) => mentioned.push(domain) > 0));
  const wanted = await matchingAmong(analytics, within, mentioned);
  return inSlices(tally.marks(window, (domain) => wanted.has(domain)));
}
