// Settings for the retention of history.
import { DAY_MS, FLOW_DAYS, WINDOW_DAYS } from '@strata/analytics';
import { z } from 'zod';
import type { Retention } from './retention.ts';

const Days = z.coerce.number().int().min(1).max(36_500);
/** The window before a day, and the week within which a day may be evaluated late. */
const JUDGED_DAYS = WINDOW_DAYS + 8;
/** Scans within the retention, at up to twice the usual interval plus jitter of a half. */
const SCANS_BEFORE_FORGETTING = 4;

/** A retention with a minimum and the reason for it. */
const daysFrom = (min: number, reason: string) => Days.min(min, `must be at least ${min}: ${reason}`);

export const RetentionEnvironment = z.object({
  STRATA_ON_DEMAND_DAYS: daysFrom(8, 'new domains are scanned more often for a week')
    .default(90)
    .describe('retention of a domain scanned on demand after its last request, at least 8 and four rescans'),
  STRATA_STREAM_DAYS: Days.default(90).describe('retention of the public stream'),
  STRATA_EVENT_DAYS: Days.default(30).describe('retention of the internal event log'),
  STRATA_SCAN_DAYS: daysFrom(JUDGED_DAYS, 'anomaly detection needs the scans of this many days')
    .default(90)
    .describe(`retention of scans, at least ${JUDGED_DAYS}`),
  STRATA_CHANGE_DAYS: daysFrom(FLOW_DAYS + 1, 'statistics reach back this far')
    .optional()
    .meta({ description: `retention of changes, at least ${FLOW_DAYS + 1}`, absent: 'unlimited' }),
  STRATA_ALERT_DAYS: daysFrom(8, 'an alert is not repeated for a week')
    .optional()
    .meta({ description: 'retention of alerts, at least 8', absent: 'unlimited' }),
  STRATA_ANOMALY_DAYS: daysFrom(JUDGED_DAYS, 'anomalies are compared over this many days')
    .optional()
    .meta({ description: `retention of anomalies, at least ${JUDGED_DAYS}`, absent: 'unlimited' }),
  STRATA_FEED_DAYS: daysFrom(64, 'mentions are counted over this many days')
    .default(400)
    .describe('retention of feed items and mentions'),
});

export function retentionOf(
  value: z.infer<typeof RetentionEnvironment>,
  { rescanAfterMs, isPollingFeeds }: { readonly rescanAfterMs: number; readonly isPollingFeeds: boolean },
): Retention {
  const ms = (days: number | undefined) => days && days * DAY_MS;
  return Object.freeze({
    events: ms(value.STRATA_EVENT_DAYS),
    scans: ms(value.STRATA_SCAN_DAYS),
    changes: ms(value.STRATA_CHANGE_DAYS),
    alerts: ms(value.STRATA_ALERT_DAYS),
    anomalies: ms(value.STRATA_ANOMALY_DAYS),
    stream: ms(value.STRATA_STREAM_DAYS),
    feedItems: isPollingFeeds ? ms(value.STRATA_FEED_DAYS) : undefined,
    // Requests are recorded only when an answer is recomputed after a scan: the time must cover several scans.
    onDemand: Math.max(value.STRATA_ON_DEMAND_DAYS * DAY_MS, SCANS_BEFORE_FORGETTING * rescanAfterMs),
  });
}
