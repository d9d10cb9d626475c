// Settings for the retention of history.
import { DAY_MS, FLOW_DAYS, WINDOW_DAYS } from '@strata/analytics';
import { z } from 'zod';
import type { Retention } from './retention.ts';

const Days = z.coerce.number().int().min(1).max(36_500);
/** The window before a day, and the week within which a day may be evaluated late. */
const JUDGED_DAYS = WINDOW_DAYS + 8;
/** Scans within the retention, at up to twice the usual interval plus jitter of a half. */
const SCANS_BEFORE_FORGETTING = 4;

export const RetentionEnvironment = z.object({
  STRATA_ON_DEMAND_DAYS: Days.min(8, 'must be at least 8: new domains are scanned more often for a week').default(90),
  STRATA_STREAM_DAYS: Days.default(90),
  STRATA_EVENT_DAYS: Days.default(30),
  STRATA_SCAN_DAYS: Days.min(
    JUDGED_DAYS,
    `must be at least ${JUDGED_DAYS}: anomaly detection needs the scans of this many days`,
  ).default(90),
  STRATA_CHANGE_DAYS: Days.min(
    FLOW_DAYS + 1,
    `must be at least ${FLOW_DAYS + 1}: statistics reach back this far`,
  ).optional(),
  STRATA_ALERT_DAYS: Days.min(8, 'must be at least 8: an alert is not repeated for a week').optional(),
  STRATA_ANOMALY_DAYS: Days.min(
    JUDGED_DAYS,
    `must be at least ${JUDGED_DAYS}: anomalies are compared over this many days`,
  ).optional(),
});

export function retentionOf(
  value: z.infer<typeof RetentionEnvironment>,
  { rescanAfterMs, feedDays }: { readonly rescanAfterMs: number; readonly feedDays: number | undefined },
): Retention {
  const ms = (days: number | undefined) => days && days * DAY_MS;
  return Object.freeze({
    events: ms(value.STRATA_EVENT_DAYS),
    scans: ms(value.STRATA_SCAN_DAYS),
    changes: ms(value.STRATA_CHANGE_DAYS),
    alerts: ms(value.STRATA_ALERT_DAYS),
    anomalies: ms(value.STRATA_ANOMALY_DAYS),
    stream: ms(value.STRATA_STREAM_DAYS),
    feedItems: ms(feedDays),
    // Requests are recorded only when an answer is recomputed after a scan: the time must cover several scans.
    onDemand: Math.max(value.STRATA_ON_DEMAND_DAYS * DAY_MS, SCANS_BEFORE_FORGETTING * rescanAfterMs),
  });
}
