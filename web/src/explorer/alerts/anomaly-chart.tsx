// The chart of an anomaly: the time series, its mean, and the band of three standard deviations.
import type { Anomaly } from '@strata/client';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDay, formatDecimal } from '../../ui/formats.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { useTheme } from '../../ui/theme/theme.ts';
import { bandOf, dayOf, type SeriesDay } from './anomaly-series.ts';
import { METRICS } from './labels.ts';

/** Fill colours of the band; the lines at its edges show the same without colour. */
const BAND = { light: 'rgb(10 95 180 / 12%)', dark: 'rgb(116 180 247 / 18%)' } as const;

export function AnomalyChart({ anomaly, days }: { readonly anomaly: Anomaly; readonly days: readonly SeriesDay[] }) {
  const { shown } = useTheme();
  const { low, high } = bandOf(anomaly);
  const { name } = METRICS[anomaly.metric];
  const day = dayOf(anomaly);
  const rows = withDay(days, { date: day, value: anomaly.value });
  const line = (value: number, text: string, type: 'solid' | 'dashed') => ({
    yAxis: value,
    lineStyle: { type },
    label: { formatter: `${text} ${formatDecimal(value)}`, position: 'insideStartTop', color: 'inherit' },
  });
  const option = {
    grid: { left: 52, right: 16, top: 32, bottom: 28 },
    tooltip: { trigger: 'axis' },
    xAxis: { type: 'category', data: rows.map(({ date }) => formatDay(date)), boundaryGap: rows.length < 3 },
    yAxis: {
      type: 'value',
      name,
      min: 0,
      axisLabel: { showMaxLabel: false },
      splitLine: { showMaxLine: false },
      max: Math.ceil(Math.max(high, ...rows.map(({ value }) => value)) * 1.1),
    },
    series: [
      {
        type: 'line',
        name,
        data: rows.map(({ value }) => value),
        showSymbol: rows.length < 3,
        symbolSize: 7,
        markArea: { silent: true, itemStyle: { color: BAND[shown] }, data: [[{ yAxis: low }, { yAxis: high }]] },
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
          data: [{ coord: [formatDay(day), anomaly.value] }],
          label: { show: true, position: 'top', formatter: formatDecimal(anomaly.value), color: 'inherit' },
        },
      },
    ],
  };
  return (
    <Chart
      label={`${anomaly.subject}, ${name} by day: ${formatDecimal(anomaly.value)} on ${formatDay(day)}; the band of three standard deviations is ${formatDecimal(low)} to ${formatDecimal(high)}, the mean is ${formatDecimal(anomaly.mean)}.`}
      option={option}
      table={
        <DataTable
          caption={`${anomaly.subject}, ${name} by day`}
          rows={rows}
          keyOf={({ date }) => date}
          columns={[
            { name: 'Day', cell: ({ date }) => formatDay(date) },
            { name: 'Value', isNumber: true, cell: ({ value }) => formatDecimal(value) },
            { name: 'Within 3σ', cell: ({ value }) => (value >= low && value <= high ? 'yes' : 'no') },
          ]}
        />
      }
    />
  );
}

/** The series with the evaluated value on the anomalous day. */
function withDay(days: readonly SeriesDay[], evaluated: SeriesDay): readonly SeriesDay[] {
  return [...days.filter(({ date }) => date !== evaluated.date), evaluated].toSorted((a, b) =>
    a.date < b.date ? -1 : 1,
  );
}
