// The chart of an anomaly: the time series, its mean, and the band of three standard deviations.
import type { Anomaly } from '@strata/client';
import { Chart } from '../../ui/chart/chart.tsx';
import type { ChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatDay, formatDecimal } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { bandOf, dayOf, type SeriesDay } from './anomaly-series.ts';
import { METRICS } from './labels.ts';

interface AnomalyChartProps {
  readonly anomaly: Anomaly;
  readonly days: readonly SeriesDay[];
}

export function AnomalyChart({ anomaly, days }: AnomalyChartProps) {
  const { low, high } = bandOf(anomaly);
  const { name } = METRICS[anomaly.metric];
  const day = dayOf(anomaly);
  const rows = withDay(days, { date: day, value: anomaly.value });
  const columns: readonly Column<SeriesDay>[] = [
    textColumn('Day', ({ date }) => date, formatDay),
    numberColumn('Value', ({ value }) => value, formatDecimal),
    { name: 'Within 3σ', cell: ({ value }) => (value >= low && value <= high ? 'yes' : 'no') },
  ];
  const caption = `${anomaly.subject}, ${name} by day`;
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
  const { name } = METRICS[anomaly.metric];
  const line = (value: number, text: string, type: 'solid' | 'dashed') => ({
    yAxis: value,
    lineStyle: { type },
    label: { formatter: `${text} ${formatDecimal(value)}`, position: 'insideStartTop', color: 'inherit' },
  });
  return {
    grid: { left: 52, right: 16, top: 32, bottom: 44 },
    tooltip: { trigger: 'axis' },
    xAxis: {
      type: 'category',
      name: 'Day (UTC)',
      nameLocation: 'middle',
      nameGap: 28,
      data: days.map(({ date }) => formatDay(date)),
      boundaryGap: days.length < 3,
    },
    yAxis: {
      type: 'value',
      name,
      min: 0,
      axisLabel: { showMaxLabel: false },
      splitLine: { showMaxLine: false },
      max: Math.ceil(Math.max(high, ...days.map(({ value }) => value)) * 1.1),
    },
    series: {
      type: 'line',
      name,
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
