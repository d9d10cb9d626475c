// The time of the next poll: depends on how often the feed changes, on failures, and on its own hints.
import type { FeedHints } from '../feed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const MIN_INTERVAL_MS = HOUR_MS / 4;
export const MAX_INTERVAL_MS = DAY_MS;
/** Longer hints are capped. */
export const MAX_TTL_MS = 7 * DAY_MS;
export const MAX_BACK_OFF_MS = 7 * DAY_MS;
/**
 * Consecutive failures after which polling stops. The backoff before them is 1, 2, 4 … 128 hours and then seven days each: sixteen
 * failures take at least 60 days.
 */
export const MAX_FAILURES = 16;

/** A feed without changes for a day is polled every six hours, one without changes for four days or more once a day. */
const QUIET_SHARE = 4;
/** Distributes feeds that were polled at the same time. */
const JITTER = 0.1;

export interface NextPoll {
  readonly now: number;
  readonly random: () => number;
  /** When the feed last had a new item; null if never. */
  readonly lastNewAt: number | null;
  readonly hints: FeedHints;
  /** Freshness lifetime of the answer; capped at a day, since many servers send one value for all files. */
  readonly freshMs: number | null;
}

/** The time of the next poll after a successful one. */
export function nextPollAt({ now, random, lastNewAt, hints, freshMs }: NextPoll): number {
  const quietMs = lastNewAt === null ? DAY_MS : Math.max(now - lastNewAt, 0);
  const ours = Math.min(Math.max(quietMs / QUIET_SHARE, freshMs ?? 0, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
  const interval = Math.max(ours, Math.min(hints.ttlMs ?? 0, MAX_TTL_MS));
  return passSkipped(now + withJitter(interval, random), hints);
}

/** The time of the next poll after a number of failures; respects the server's Retry-After up to a week. */
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

/** The first permitted hour from `time` on; `time` itself if all hours are excluded. */
function passSkipped(time: number, { skipHours, skipDays }: FeedHints): number {
  for (let hours = 0; hours < 8 * 24; hours++) {
    const candidate = time + hours * HOUR_MS;
    const date = new Date(candidate);
    if (!skipHours.includes(date.getUTCHours()) && !skipDays.includes(date.getUTCDay())) return candidate;
  }
  return time;
}
