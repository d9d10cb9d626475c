// Times as text: dates, months, times with a zone, and ages.
import { DAY_MS } from '@strata/analytics';

/** Date, time, fraction of any length, and a zone (RFC 3339); a blank before the zone is an unencoded plus. */
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+ -]\d{2}:\d{2})$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
export const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T[\d:.,]+$/i;
const MONTH = /^\d{4}-\d{2}$/;
const AGE = /^(\d{1,5})([dh])$/i;
export const HOUR_MS = 3_600_000;
const UNITS = { d: DAY_MS, h: HOUR_MS } as const;
export const FORMS =
  'a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h';

/**
 * Microseconds since the epoch; undefined for an invalid time (`2026-02-30`, which Date would read as March). A date or a
 * month is its first moment in UTC, or its last one with `isEnd`; an age is before `now`, in milliseconds.
 */
export function microsecondsOf(text: string, options: { readonly now: number; readonly isEnd?: boolean }) {
  const age = AGE.exec(text);
  if (age) return (options.now - Number(age[1]) * UNITS[(age[2] as string).toLowerCase() as 'd' | 'h']) * 1_000;
  if (MONTH.test(text)) return monthIn(text, options);
  const [, date = text, time = '00:00:00', fraction = '', zone = 'Z'] = TIME.exec(text) ?? [];
  const day = DATE.test(date) ? new Date(`${date}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return undefined;
  if (date === text) return (day.getTime() + (options.isEnd ? DAY_MS - 1 : 0)) * 1_000;
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase().replace(' ', '+')}`);
  return Number.isNaN(ms) ? undefined : ms * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

function monthIn(text: string, { isEnd }: { readonly isEnd?: boolean }): number | undefined {
  const [year = 0, month = 0] = text.split('-').map(Number);
  if (month < 1 || month > 12) return undefined;
  // Not Date.UTC(year, …), which adds 1900 to the years before 100.
  return (new Date(0).setUTCFullYear(year, isEnd ? month : month - 1, 1) - (isEnd ? 1 : 0)) * 1_000;
}
