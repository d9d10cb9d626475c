// A point in time as callers write it: ISO 8601 with a zone, down to the microsecond.
import { z } from 'zod';

/** Date, time, fraction of any length, and a zone (RFC 3339); a blank before the zone is a plus that was not encoded. */
const PATTERN = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+ -]\d{2}:\d{2})$/i;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}(T[\d:.,]+)?$/i;

export const Since = z
  .string()
  .max(64, 'is too long')
  .superRefine((text, context) => {
    if (microsecondsOf(text) !== undefined) return;
    const message = WITHOUT_ZONE.test(text) ? 'needs a time and a zone' : 'must be an ISO 8601 time with a zone';
    context.addIssue({ code: 'custom', message: `${message}: 2026-01-31T12:00:00Z` });
  })
  .meta({ format: 'date-time', description: 'ISO 8601 with a zone; events told after it.' });

/** Microseconds since the epoch; undefined for what is no such time (`2026-02-30`, which Date would take for March). */
export function microsecondsOf(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, date = '', time, fraction = '', zone = 'Z'] = match;
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase().replace(' ', '+')}`);
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return undefined;
  return ms * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
