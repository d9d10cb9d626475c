// When a notification is sent: digests, quiet hours, and retries. Pure.
import type { Channel } from './watchlist.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MINUTES = 1_440;
/** Local time of the daily digest. */
const DAILY_AT = '08:00';

/** When a channel sends a notification of this moment, in milliseconds; the moment itself if nothing delays it. */
export function dueAt(now: number, { digest, timeZone, quietHours }: Channel): number {
  const due = { none: now, hourly: now - (now % HOUR_MS) + HOUR_MS, daily: nextLocal(now, DAILY_AT, timeZone) }[digest];
  return quietHours && isQuiet(due, quietHours, timeZone) ? nextLocal(due, quietHours.to, timeZone) : due;
}

/** The hours may include midnight; equal ends are no hours. */
function isQuiet(at: number, hours: { readonly from: string; readonly to: string }, timeZone: string): boolean {
  const [now, from, to] = [localMinutes(at, timeZone), minutesOf(hours.from), minutesOf(hours.to)];
  return from <= to ? now >= from && now < to : now >= from || now < to;
}

/** The next moment after `at` with this local time. */
function nextLocal(at: number, time: string, timeZone: string): number {
  const start = at - (at % MINUTE_MS);
  const wait = (minutesOf(time) - localMinutes(start, timeZone) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  const next = start + wait * MINUTE_MS;
  // A change to or from summer time in between: at most a few hours, in either direction.
  const late = ((localMinutes(next, timeZone) - minutesOf(time) + 2 * DAY_MINUTES + 720) % DAY_MINUTES) - 720;
  return Math.max(next - late * MINUTE_MS, start + MINUTE_MS);
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

function localMinutes(at: number, timeZone: string): number {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return minutesOf(new Intl.DateTimeFormat('en-GB', format).format(at));
}

const SECOND_MS = 1_000;
/** Delays before the attempts after the first: about three days (Standard Webhooks, "Deliverability and reliability"). */
const RETRY_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, ...[2, 5, 10, 14, 20, 24].map((h) => h * HOUR_MS)];

/**
 * Milliseconds until the next attempt after so many failed ones, with a jitter of a fifth, and not before the receiver's
 * `Retry-After`; undefined after the last.
 */
export function retryAfterMs(
  attempts: number,
  { random, askedMs = 0 }: { readonly random: () => number; readonly askedMs?: number },
): number | undefined {
  const delay = RETRY_MS[attempts - 1];
  return delay === undefined ? undefined : Math.max(Math.round(delay * (0.8 + 0.4 * random())), askedMs);
}
