// Time windows, with one meaning on every route: complete UTC days, hours back from now, or from one time to another.
import { DAY_MS, dayOf } from '@strata/analytics';
import { z } from 'zod';
import { FORMS, HOUR_MS, microsecondsOf } from '../../moments.ts';
import { Integer, refuseField, Since, Time } from '../parameters.ts';

/** Query parameters of a window of at most `max` days. */
export const windowParameters = (max: number) => ({
  days: Integer({ min: 1, max }).describe('Only the last UTC days, including today.').optional(),
  hours: Integer({ min: 1, max: max * 24 })
    .describe('Only the last hours up to now; takes precedence over `days`.')
    .optional(),
  since: Since.optional(),
  until: Time.describe(
    `The end of the window, by default now; a date is included. Needs \`since\`. ${FORMS}.`,
  ).optional(),
});

type WindowInput = z.output<z.ZodObject<ReturnType<typeof windowParameters>>>;

/** Days for which the index keeps migrations in memory. */
export const MAX_DAYS = 60;

/** Milliseconds since the epoch, both included; without `until` it ends now. */
export interface TimeWindow {
  readonly since: number;
  readonly until?: number | undefined;
}

/** The window of a request; null if it has none. Refuses one that begins more than `maxDays` ago, or that is empty. */
export function windowOf(
  { days, hours, since, until }: WindowInput,
  { now, maxDays }: { readonly now: number; readonly maxDays: number },
): TimeWindow | null {
  if (since === undefined) {
    if (until !== undefined) return refuseField('until', 'needs since');
    if (hours !== undefined) return { since: now - hours * HOUR_MS + 1 };
    return days === undefined ? null : { since: (dayOf(now) - days + 1) * DAY_MS };
  }
  const both = days === undefined ? (hours === undefined ? undefined : 'hours') : 'days';
  if (both) return refuseField('since', `cannot be combined with ${both}`);
  const from = Math.ceil((microsecondsOf(since, { now }) ?? 0) / 1_000);
  const to = until === undefined ? undefined : Math.floor((microsecondsOf(until, { now, isEnd: true }) ?? 0) / 1_000);
  if (from > now) return refuseField('since', 'is in the future');
  if (from < (dayOf(now) - maxDays + 1) * DAY_MS) return refuseField('since', `must be within ${maxDays} days`);
  if (to !== undefined && to < from) return refuseField('until', 'is before since');
  return { since: from, until: to };
}

/** In the key of a cursor: later pages of a list are of the window of the first one. */
export const WindowKey = z.object({ since: z.int(), until: z.int().optional() });

/** As a filter of the store. */
export const datesOf = ({ since, until }: TimeWindow) => ({
  since: new Date(since),
  ...(until !== undefined && { until: new Date(until) }),
});

/** The length of a window: of complete days up to today an integer. */
export const daysOf = ({ since, until }: TimeWindow, now: number): number =>
  until === undefined && since % DAY_MS === 0 ? dayOf(now) - since / DAY_MS + 1 : ((until ?? now) - since + 1) / DAY_MS;

/** Both ends of a window; of complete days up to today its end is that of the day. */
export function endsOf({ since, until }: TimeWindow, now: number) {
  const isOfDays = until === undefined && since % DAY_MS === 0;
  return { since, until: isOfDays ? (dayOf(now) + 1) * DAY_MS - 1 : (until ?? now) };
}
