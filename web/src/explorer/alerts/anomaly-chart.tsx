// The chart of an anomaly: the time series, its mean, and the band of three standard deviations.
import type { Anomaly, Change, StackPaths } from '@strata/client';
import { Chart } from '../../ui/chart/chart.tsx';
import type { ChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatDay, formatDecimal, formatName } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';

interface SeriesDay {
  readonly date: string;
  readonly value: number;
}

type Curve = StackPaths['/stack/v1/intelligence/adoption/{tool}']['body']['curve'];

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

interface AnomalyChartProps {
  readonly anomaly: Anomaly;
  readonly days: readonly SeriesDay[];
}

export function AnomalyChart({ anomaly, days }: AnomalyChartProps) {
  const { low, high } = bandOf(anomaly);
  const day = dayOf(anomaly);
  const rows = withDay(days, { date: day, value: anomaly.value });
  const columns: readonly Column<SeriesDay>[] = [
    textColumn('Day', 'date', formatDay),
    numberColumn('Value', 'value', formatDecimal),
    { name: 'Within 3σ', cell: ({ value }) => (value >= low && value <= high ? 'yes' : 'no') },
  ];
  const caption = `${anomaly.subject}, ${anomaly.metric} by day`;
  return (
    <Chart
      label={`${caption}: ${formatDecimal(anomaly.value)} on ${formatDay(day)}; the band of three standard deviations is ${formatDecimal(low)} to ${formatDecimal(high)}, the mean is ${formatDecimal(anomaly.mean)}.`}
      data={{ anomaly, days: rows }}
      draw={lineOf}
      height={300}
      table={<DataTable caption={caption} rows={rows} keyOf={({ date }) => date} columns={columns} />}
    />
  );
}

function lineOf({ anomaly, days }: AnomalyChartProps, { accent }: ChartTheme) {
  const { low, high } = bandOf(anomaly);
  const line = (value: number, text: string, type: 'solid' | 'dashed') => ({
    yAxis: value,
    lineStyle: { type },
    label: { formatter: `${text} ${formatDecimal(value)}`, position: 'insideStartTop', color: 'inherit' },
  });
  return {
    tooltip: { trigger: 'axis' },
    xAxis: {
      type: 'category',
      name: 'Day (UTC)',
      data: days.map(({ date }) => formatDay(date)),
      boundaryGap: days.length < 3,
    },
    yAxis: {
      name: formatName(anomaly.metric),
      min: 0,
      axisLabel: { showMaxLabel: false },
      splitLine: { showMaxLine: false },
      max: Math.ceil(Math.max(high, ...days.map(({ value }) => value)) * 1.1),
    },
    series: {
      type: 'line',
      name: formatName(anomaly.metric),
      data: days.map(({ value }) => value),
      showSymbol: days.length < 3,
      symbolSize: 7,
      // The lines at its edges show the band without colour.
      markArea: {
        silent: true,
        itemStyle: { color: accent, opacity: 0.14 },
        data: [[{ yAxis: low }, { yAxis: high }]],
      },
      markLine: {
        silent: true,
        symbol: 'none',
        data: [
          line(anomaly.mean, 'Mean', 'solid'),
          line(high, '+3σ', 'dashed'),
          ...(low > 0 ? [line(low, '−3σ', 'dashed')] : []),
        ],
      },
      markPoint: {
        symbol: 'diamond',
        symbolSize: 14,
        data: [{ coord: [formatDay(dayOf(anomaly)), anomaly.value] }],
        label: { show: true, position: 'top', formatter: formatDecimal(anomaly.value), color: 'inherit' },
      },
    },
  };
}

/** The series with the evaluated value on the anomalous day. */
function withDay(days: readonly SeriesDay[], evaluated: SeriesDay): readonly SeriesDay[] {
  return [...days.filter(({ date }) => date !== evaluated.date), evaluated].toSorted((a, b) =>
    a.date < b.date ? -1 : 1,
  );
}
