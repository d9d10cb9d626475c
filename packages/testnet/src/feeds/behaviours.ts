// Behaviours of feeds and their frequency: the first forty of an internet contain each kind, later ones have realistic
// shares.
import { type Random, randomFor } from '../random.ts';

/** `first` is the count among the first forty, `weight` that among later ones. */
const BEHAVIOURS = {
  'both-validators': { first: 8, weight: 34 },
  etag: { first: 6, weight: 18 },
  'last-modified': { first: 5, weight: 16 },
  'no-validators': { first: 4, weight: 12 },
  'max-age': { first: 2, weight: 5 },
  ttl: { first: 1, weight: 3 },
  'skip-hours': { first: 1, weight: 2 },
  /** 301 to a new address. */
  'moved-permanently': { first: 1, weight: 1.5 },
  /** 302 to another address. */
  'moved-temporarily': { first: 1, weight: 1 },
  /** 410 after day 5. */
  gone: { first: 1, weight: 1 },
  /** 404 for some days, repeatedly. */
  'missing-for-days': { first: 1, weight: 1 },
  /** Every third request fails. */
  'server-errors': { first: 1, weight: 1.5 },
  /** Every second request gets a 429. */
  'too-many-requests': { first: 1, weight: 1 },
  /** An error page with status 200. */
  'html-page': { first: 1, weight: 0.7 },
  malformed: { first: 1, weight: 1 },
  /** The connection closes half-way. */
  truncated: { first: 1, weight: 0.5 },
  /** A few bytes a second, without end. */
  slow: { first: 1, weight: 0.3 },
  /** Items without end. */
  endless: { first: 1, weight: 0.1 },
  'entity-bomb': { first: 1, weight: 0.1 },
  /** windows-1252 that claims to be UTF-8. */
  'wrong-charset': { first: 1, weight: 1 },
};

export type FeedBehaviour = keyof typeof BEHAVIOURS;

const ROWS = Object.entries(BEHAVIOURS).map(([name, row]) => ({ behaviour: name as FeedBehaviour, ...row }));

/** Feeds that never contain a readable item. */
const UNREADABLE: readonly FeedBehaviour[] = ['html-page', 'malformed', 'truncated', 'slow', 'endless', 'entity-bomb'];

const REMOVED_AFTER_DAY = 5;

/** The behaviour of the n-th feed of an internet. */
export function behaviourOf(seed: string, index: number): FeedBehaviour {
  const first = ROWS.flatMap(({ behaviour, first }) => Array.from({ length: first }, () => behaviour));
  const dealt = shuffled(first, randomFor(seed, 'feed-behaviours'))[index];
  return dealt ?? randomFor(seed, 'feed-behaviour', index).weighted(ROWS).behaviour;
}

/** Whether an address answers 410 or 404 on a day. */
export function absenceOn(behaviour: FeedBehaviour, day: number): 410 | 404 | null {
  if (behaviour === 'gone' && day > REMOVED_AFTER_DAY) return 410;
  return behaviour === 'missing-for-days' && day % 6 >= 2 && day % 6 <= 3 ? 404 : null;
}

/** Whether a reader can find items in the feed on a day. */
export function isReadableOn(behaviour: FeedBehaviour, day: number): boolean {
  return !UNREADABLE.includes(behaviour) && absenceOn(behaviour, day) === null;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
