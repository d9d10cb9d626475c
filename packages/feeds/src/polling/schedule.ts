// When a feed is asked next: sooner the livelier it is, later while it fails, never before it wishes to be asked.
import type { FeedWishes } from '../feed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const MIN_INTERVAL_MS = HOUR_MS / 4;
export const MAX_INTERVAL_MS = DAY_MS;
/** No feed means more than this by what it asks of those who poll it. */
export const MAX_TTL_MS = 7 * DAY_MS;
export const MAX_BACK_OFF_MS = 7 * DAY_MS;
/**
 * Failures in a row after which a feed is given up. The waits before them are 1, 2, 4 … 128 hours and then seven days
 * each: sixteen of them are at least 60 days.
 */
export const MAX_FAILURES = 16;

/** A feed quiet for a day is asked every six hours, one quiet for four days or more once a day. */
const QUIET_SHARE = 4;
/** Spreads feeds that were asked at once. */
const JITTER = 0.1;

export interface NextPoll {
  readonly now: number;
  readonly random: () => number;
  /** When the feed last had something new; null where it never had. */
  readonly lastNewAt: number | null;
  readonly wishes: FeedWishes;
  /** How long the server says that its answer is fresh; many say it of all their files alike, so that a day is the most. */
  readonly freshMs: number | null;
}

/** The time of the next poll of a feed that answered. */
export function nextPollAt({ now, random, lastNewAt, wishes, freshMs }: NextPoll): number {
  const quietMs = lastNewAt === null ? DAY_MS : Math.max(now - lastNewAt, 0);
  const ours = Math.min(Math.max(quietMs / QUIET_SHARE, freshMs ?? 0, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
  const interval = Math.max(ours, Math.min(wishes.ttlMs ?? 0, MAX_TTL_MS));
  return passSkipped(now + withJitter(interval, random), wishes);
}

/** The time of the next poll after so many failures; not before the server said, but for what it asks beyond a week. */
export function retryAt(options: {
  readonly now: number;
  readonly random: () => number;
  readonly failures: number;
  readonly retryAfterMs: number | null;
}): number {
  const { now, random, failures, retryAfterMs } = options;
  const backOff = Math.min(HOUR_MS * 2 ** Math.min(failures - 1, 20), MAX_BACK_OFF_MS);
  const wait = withJitter(Math.max(backOff, Math.min(retryAfterMs ?? 0, MAX_BACK_OFF_MS)), random);
  return now + wait;
}

function withJitter(waitMs: number, random: () => number): number {
  return Math.round(waitMs * (1 + JITTER * random()));
}

/** The first hour from `time` on in which the feed may be asked; `time` itself where it excludes all of them. */
function passSkipped(time: number, { skipHours, skipDays }: FeedWishes): number {
  for (let hours = 0; hours < 8 * 24; hours++) {
    const candidate = time + hours * HOUR_MS;
    const date = new Date(candidate);
    if (!skipHours.includes(date.getUTCHours()) && !skipDays.includes(date.getUTCDay())) return candidate;
  }
  return time;
}
