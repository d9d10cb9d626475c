// The items of a feed, day by day: texts, links and mentions.
import { type Random, randomFor } from '../random.ts';
import type { Calendar } from './calendar.ts';
import type { DrawMention } from './mentions.ts';
import type { FeedPlan } from './plan.ts';
import { urlAt, writeText } from './text.ts';

/** Days of items before day 0. */
const HISTORY_DAYS = 30;
const DAY_MS = 86_400_000;

export interface FeedItem {
  /** Its guid, otherwise its link: unique within the feed. */
  readonly id: string;
  readonly guid: string | null;
  readonly title: string;
  readonly url: string;
  /** Full seconds, in milliseconds since the epoch; null if the document has no date. */
  readonly publishedAt: number | null;
  readonly html: string;
  /** Its target, if not the feed's own site. */
  readonly link: string | null;
  /** Domains that its text mentions, without `link` and the feed's own. */
  readonly content: readonly string[];
  /** Those of `content` that appear only in a redirector's address. */
  readonly wrapped: readonly string[];
}

export interface FeedWorld {
  readonly seed: string;
  readonly calendar: Calendar;
  readonly drawMention: DrawMention;
}

/** The items that the feed shows today, newest first. */
export function itemsOf(plan: FeedPlan, world: FeedWorld): FeedItem[] {
  const items: FeedItem[] = [];
  for (let day = world.calendar.today(); day >= -HISTORY_DAYS && items.length < plan.shown; day -= 1) {
    for (let n = countOn(plan, day, world.seed) - 1; n >= 0 && items.length < plan.shown; n -= 1) {
      items.push(itemOf(plan, day, n, world));
    }
  }
  return items;
}

/**
 * A version that changes exactly when the shown items do, and the date of the newest: computed without generating
 * items.
 */
export function versionOf(plan: FeedPlan, { seed, calendar }: FeedWorld): { version: string; changedAt: number } {
  for (let day = calendar.today(); day >= -HISTORY_DAYS; day -= 1) {
    const count = countOn(plan, day, seed);
    if (count > 0)
      return { version: `${day}.${count}`, changedAt: timeOf(plan, { day, n: count - 1 }, seed, calendar) };
  }
  return { version: 'empty', changedAt: calendar.spanOf(-HISTORY_DAYS).from };
}

function countOn({ rate, url }: FeedPlan, day: number, seed: string): number {
  const r = randomFor(seed, url, 'count', day);
  return 'chance' in rate ? Number(r.chance(rate.chance)) : r.between(rate.min, rate.max);
}

/** A day is divided into equal parts, one per item, with a random time in each. */
function timeOf(plan: FeedPlan, at: { day: number; n: number }, seed: string, calendar: Calendar): number {
  const { from, to } = calendar.spanOf(at.day);
  const share = (at.n + randomFor(seed, plan.url, 'time', at.day, at.n).next()) / countOn(plan, at.day, seed);
  return Math.floor((from + (to - from) * share) / 1_000) * 1_000;
}

function itemOf(plan: FeedPlan, day: number, n: number, { seed, calendar, drawMention }: FeedWorld): FeedItem {
  const r = randomFor(seed, plan.url, 'item', day, n);
  const slug = `${r.between(1_000_000, 9_999_999)}-${day + HISTORY_DAYS}-${n}`;
  const ownUrl = `https://${plan.host}/posts/${slug}`;
  const { publisher } = plan;
  const target = plan.isLinkBlog && r.chance(0.85) ? drawMention(r, day) : null;
  // Distinguished by a parameter, as two items may link to one page.
  const url = target ? withReference(urlAt(r, target), slug) : ownUrl;
  const link = target === publisher ? null : target;
  const mention = () => drawMention(r, day);
  const { html, named, wrapped } = writeText({
    random: r,
    host: plan.host,
    publisher,
    ownUrl,
    mention,
    isXhtml: plan.text === 'xhtml',
  });
  const guid = { permalink: ownUrl, opaque: `tag:${publisher},2020:${slug}`, missing: null }[plan.guid];
  return {
    id: guid ?? url,
    guid,
    title: titleOf(r, link ?? named[0] ?? publisher),
    url,
    publishedAt: plan.dates === 'missing' ? null : timeOf(plan, { day, n }, seed, calendar) + aheadOf(r),
    html,
    link,
    content: named.filter((domain) => domain !== link),
    wrapped: wrapped.filter((domain) => domain !== link),
  };
}

/** A few items are dated in the future, by mistake or to stay on top. */
const aheadOf = (r: Random): number => (r.chance(1 / 60) ? r.between(3, 300) * DAY_MS : 0);

function withReference(url: string, slug: string): string {
  const result = new URL(url);
  result.searchParams.set('ref', slug);
  return result.href;
}

function titleOf(r: Random, domain: string): string {
  const brand = domain.slice(0, domain.indexOf('.'));
  return r.pick([
    `${brand} moves its mail`,
    `Q&A with ${brand}: “we run <b>one</b> server”`,
    `Why ${brand} is > 99 % up – and what’s next`,
    `a[b[0]]>1, or how ${brand} counts`,
    `Crème brûlée & DNS at ${brand}…`,
  ]);
}
