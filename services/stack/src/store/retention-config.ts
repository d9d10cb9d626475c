// Settings of the retention of history.
import { DAY_MS, FLOW_DAYS, WINDOW_DAYS } from '@strata/analytics';
import { z } from 'zod';
import type { Retention } from './retention.ts';

const Days = z.coerce.number().int().min(1).max(36_500);
/** The window before a day, and the week for which a day is judged late. */
const JUDGED_DAYS = WINDOW_DAYS + 8;
/** At up to twice the usual interval, and a half of it more by chance. */
const SCANS_BEFORE_FORGETTING = 4;

export const RetentionEnvironment = z.object({
  STRATA_ON_DEMAND_DAYS: Days.min(8, 'must be at least 8: for a week a domain is scanned more often').default(90),
  STRATA_STREAM_DAYS: Days.default(90),
  STRATA_EVENT_DAYS: Days.default(30),
  STRATA_SCAN_DAYS: Days.min(
    JUDGED_DAYS,
    `must be at least ${JUDGED_DAYS}, the days that domains are judged by`,
  ).default(90),
  STRATA_CHANGE_DAYS: Days.min(
    FLOW_DAYS + 1,
    `must be at least ${FLOW_DAYS + 1}: windows reach as far back`,
  ).optional(),
  STRATA_ALERT_DAYS: Days.min(8, 'must be at least 8: for a week an alert is not raised again').optional(),
  STRATA_ANOMALY_DAYS: Days.min(
    JUDGED_DAYS,
    `must be at least ${JUDGED_DAYS}, the days that others are judged by`,
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
    // A request is noted when the answer is made anew, after a scan: several scans fit into the time.
    onDemand: Math.max(value.STRATA_ON_DEMAND_DAYS * DAY_MS, SCANS_BEFORE_FORGETTING * rescanAfterMs),
  });
}
