// Caching headers of an answer: RFC 9111 §5.2 and §5.3, RFC 9110 §10.2.3.
import { parseDate } from '../document/parse-date.ts';

const MAX_HEADER_LENGTH = 1_000;
const DAY_MS = 86_400_000;
/** Longer values are capped; the poller has its own bounds. */
const MAX_FRESH_MS = 30 * DAY_MS;

type Headers = Readonly<Record<string, string>>;

/** The freshness lifetime of the answer; null if unspecified. `max-age` takes precedence over `Expires`. */
export function freshMs(headers: Headers, now: number): number | null {
  const control = headerOf(headers, 'cache-control')?.toLowerCase() ?? '';
  if (/\bno-(?:cache|store)\b/.test(control)) return null;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(control)?.[1];
  if (maxAge !== undefined) return Math.min(Number(maxAge) * 1_000, MAX_FRESH_MS);
  const expires = timeOf(headerOf(headers, 'expires'), now);
  const answered = timeOf(headerOf(headers, 'date'), now) ?? now;
  return expires === null || expires <= answered ? null : Math.min(expires - answered, MAX_FRESH_MS);
}

/** The delay in `retry-after`, given in seconds or as a date; null if unspecified. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const value = headerOf(headers, 'retry-after')?.trim();
  if (value !== undefined && /^\d{1,10}$/.test(value)) return Math.min(Number(value) * 1_000, MAX_FRESH_MS);
  const time = timeOf(value, now);
  return time === null || time <= now ? null : Math.min(time - now, MAX_FRESH_MS);
}

/** A header's value; undefined if missing, empty or too long to send back. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === undefined || value === '' || value.length > MAX_HEADER_LENGTH ? undefined : value;
}

/** These dates may be in the future, unlike those of items. */
function timeOf(value: string | undefined, now: number): number | null {
  return value === undefined ? null : parseDate(value, now + MAX_FRESH_MS);
}
