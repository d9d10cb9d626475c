// Behaviours of feeds and their frequency: the first forty of an internet contain each kind, later ones have realistic
// shares.
import { type Random, randomFor } from '../random.ts';

export type FeedBehaviour =
  | 'etag'
  | 'last-modified'
  | 'both-validators'
  | 'no-validators'
  | 'max-age'
  | 'ttl'
  | 'skip-hours'
  /** 301 to a new address. */
  | 'moved-permanently'
  /** 302 to another address. */
  | 'moved-temporarily'
  /** 410 after day 5. */
  | 'gone'
  /** 404 for some days, repeatedly. */
  | 'missing-for-days'
  /** Every third request fails. */
  | 'server-errors'
  /** Every second request gets a 429. */
  | 'too-many-requests'
  /** An error page with status 200. */
  | 'html-page'
  | 'malformed'
  /** The connection closes half-way. */
  | 'truncated'
  /** A few bytes a second, without end. */
  | 'slow'
  /** Items without end. */
  | 'endless'
  | 'entity-bomb'
  /** windows-1252 that claims to be UTF-8. */
  | 'wrong-charset';

interface Row {
  readonly behaviour: FeedBehaviour;
  /** Count among the first forty. */
  readonly first: number;
  /** Weight among later ones. */
  readonly weight: number;
}

const ROWS: readonly Row[] = [
  { behaviour: 'both-validators', first: 8, weight: 34 },
  { behaviour: 'etag', first: 6, weight: 18 },
  { behaviour: 'last-modified', first: 5, weight: 16 },
  { behaviour: 'no-validators', first: 4, weight: 12 },
  { behaviour: 'max-age', first: 2, weight: 5 },
  { behaviour: 'ttl', first: 1, weight: 3 },
  { behaviour: 'skip-hours', first: 1, weight: 2 },
  { behaviour: 'moved-permanently', first: 1, weight: 1.5 },
  { behaviour: 'moved-temporarily', first: 1, weight: 1 },
  { behaviour: 'gone', first: 1, weight: 1 },
  { behaviour: 'missing-for-days', first: 1, weight: 1 },
  { behaviour: 'server-errors', first: 1, weight: 1.5 },
  { behaviour: 'too-many-requests', first: 1, weight: 1 },
  { behaviour: 'html-page', first: 1, weight: 0.7 },
  { behaviour: 'malformed', first: 1, weight: 1 },
  { behaviour: 'truncated', first: 1, weight: 0.5 },
  { behaviour: 'slow', first: 1, weight: 0.3 },
  { behaviour: 'endless', first: 1, weight: 0.1 },
  { behaviour: 'entity-bomb', first: 1, weight: 0.1 },
  { behaviour: 'wrong-charset', first: 1, weight: 1 },
];

/** Feeds that never contain a readable item. */
const UNREADABLE: ReadonlySet<FeedBehaviour> = new Set<FeedBehaviour>([
  'html-page',
  'malformed',
  'truncated',
  'slow',
  'endless',
  'entity-bomb',
]);

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
  return !UNREADABLE.has(behaviour) && absenceOn(behaviour, day) === null;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
