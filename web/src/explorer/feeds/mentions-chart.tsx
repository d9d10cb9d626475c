// A bar chart of mentions per day.
import type { StackPaths } from '@strata/client';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDay } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { DataTable } from '../../ui/table/data-table.tsx';

type Days = StackPaths['/stack/v1/feeds/stats']['body']['per_day'];

const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Days are in UTC; the last one is incomplete. */
export function MentionsChart({ label, days }: { readonly label: string; readonly days: Days }) {
  const option = useMemo(
    () => ({
      grid: { left: 8, right: 8, top: 16, bottom: 4, containLabel: true },
      tooltip: { trigger: 'axis' },
      xAxis: {
        type: 'category',
        data: days.map(({ date }) => short.format(new Date(date))),
        axisTick: { show: false },
      },
      yAxis: { type: 'value', minInterval: 1 },
      series: [{ name: 'Mentions', type: 'bar', data: days.map(({ mentions }) => mentions), barCategoryGap: '25%' }],
    }),
    [days],
  );
  return (
    <Chart
      label={label}
      option={option}
      height={220}
      table={
        <DataTable
          caption={label}
          rows={days.toReversed()}
          keyOf={({ date }) => date}
          columns={[
            textColumn<Days[number]>('Day (UTC)', ({ date }) => date, formatDay),
            numberColumn<Days[number]>('Mentions', ({ mentions }) => mentions),
          ]}
        />
      }
    />
  );
}
