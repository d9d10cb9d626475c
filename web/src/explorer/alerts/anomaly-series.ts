// The days around an anomaly, if the API provides them, and its band of three standard deviations.
import type { Anomaly, Change, StackPaths } from '@strata/client';

export interface SeriesDay {
  readonly date: string;
  readonly value: number;
}

type Curve = StackPaths['/stack/v1/intelligence/adoption/{tool}']['body']['curve'];

/** Which endpoint has the series; null if none has. */
export function seriesSource({ subject_kind: kind, metric }: Anomaly): 'adoption' | 'changes' | null {
  if (kind === 'provider') return 'adoption';
  return kind === 'domain' && metric === 'changes' ? 'changes' : null;
}

/** The anomalous UTC day: `at` is its end, which may be midnight of the next day. */
export function dayOf({ at }: Pick<Anomaly, 'at'>): string {
  return new Date(Date.parse(at) - 1).toISOString().slice(0, 10);
}

/** The mean plus and minus three standard deviations; counts are never below 0. */
export function bandOf({ mean, stddev }: Anomaly): { readonly low: number; readonly high: number } {
  return { low: Math.max(0, mean - 3 * stddev), high: mean + 3 * stddev };
}

/** The daily values of the metric from the adoption curve of a provider. */
export function daysOfCurve(curve: Curve, metric: Anomaly['metric']): readonly SeriesDay[] {
  const of = { domains: 'domains', gains: 'added', losses: 'removed' } as const;
  const column = metric in of ? of[metric as keyof typeof of] : 'domains';
  return curve.map((day) => ({ date: day.date, value: day[column] }));
}

/** Changes by day of confirmation, from the first day of the window to the anomalous day. */
export function daysOfChanges(changes: readonly Change[], anomaly: Anomaly): readonly SeriesDay[] {
  const last = Date.parse(dayOf(anomaly));
  const counts = Map.groupBy(changes, ({ confirmed_at: at }) => at.slice(0, 10));
  return Array.from({ length: anomaly.window_days + 1 }, (_, i) => {
    const date = new Date(last - (anomaly.window_days - i) * 86_400_000).toISOString().slice(0, 10);
    return { date, value: counts.get(date)?.length ?? 0 };
  });
}
