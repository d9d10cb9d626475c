// Settings for the retention of history.
import { DAY_MS, FLOW_DAYS, WINDOW_DAYS } from '@strata/analytics';
import { itemsOf } from '@strata/http';
import { z } from 'zod';
import type { Retention } from './retention.ts';

const Days = z.coerce.number().int().min(1).max(36_500);
/** The window before a day, and the week within which a day may be evaluated late. */
const JUDGED_DAYS = WINDOW_DAYS + 8;
/** Scans within the retention, at up to twice the usual interval plus jitter of a half. */
const SCANS_BEFORE_FORGETTING = 4;

/** A retention with a minimum and the reason for it. */
const daysFrom = (min: number, reason: string) => Days.min(min, `must be at least ${min}: ${reason}`);

export const RetentionDays = itemsOf({
  scans: daysFrom(JUDGED_DAYS, 'anomaly detection needs the scans of this many days').default(90),
  events: Days.default(30),
  stream: Days.default(90),
  feeds: daysFrom(64, 'mentions are counted over this many days').default(400),
  'on-demand': daysFrom(8, 'new domains are scanned more often for a week').default(90),
  changes: daysFrom(FLOW_DAYS + 1, 'statistics reach back this far').optional(),
  alerts: daysFrom(8, 'an alert is not repeated for a week').optional(),
  anomalies: daysFrom(JUDGED_DAYS, 'anomalies are compared over this many days').optional(),
}).meta({
  description:
    'retention, as `scans=400,feeds=100`: of `scans`, internal `events`, public `stream`, `feeds` with mentions, `on-demand` domains after their last request (or four rescans), `changes`, `alerts` and `anomalies` ([minimums](operations.md#retention))',
  absent: '90; `events` 30, `feeds` 400; `changes`, `alerts`, `anomalies` unlimited',
});

export function retentionOf(
  days: z.output<typeof RetentionDays>,
  { rescanAfterMs, isPollingFeeds }: { readonly rescanAfterMs: number; readonly isPollingFeeds: boolean },
): Retention {
  const ms = (count: number | undefined) => count && count * DAY_MS;
  return Object.freeze({
    events: ms(days.events),
    scans: ms(days.scans),
    changes: ms(days.changes),
    alerts: ms(days.alerts),
    anomalies: ms(days.anomalies),
    stream: ms(days.stream),
    feedItems: isPollingFeeds ? ms(days.feeds) : undefined,
    // Requests are recorded only when an answer is recomputed after a scan: the time must cover several scans.
    onDemand: Math.max(days['on-demand'] * DAY_MS, SCANS_BEFORE_FORGETTING * rescanAfterMs),
  });
}
