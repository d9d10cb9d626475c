// Providers of a market by share: the largest in the chart, all in the table.
import type { Market } from '@strata/client';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart/chart.tsx';
import { type ChartTheme, useChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CountLink, usersIn } from '../search/search-links.tsx';
import { providerColumn } from './columns.tsx';

type Holder = Market['providers'][number];

const DRAWN = 15;
const BAR_HEIGHT = 28;

const columnsOf = (category: string, includesParked: boolean): readonly Column<Holder>[] => [
  providerColumn,
  textColumn('Owner', ({ owner }) => owner),
  {
    name: 'Domains',
    isNumber: true,
    cell: ({ provider_id, domains }) => (
      <CountLink count={domains} of={usersIn(category, provider_id, includesParked)} />
    ),
    value: ({ domains }) => domains,
  },
  numberColumn('Share', ({ share }) => share, formatShare),
];

interface ShareChartProps {
  readonly market: Market;
  /** Whether parked domains are counted. */
  readonly includesParked: boolean;
}

export function ShareChart({ market, includesParked }: ShareChartProps) {
  const theme = useChartTheme();
  const drawn = useMemo(() => market.providers.slice(0, DRAWN), [market]);
  const option = useMemo(() => barsOf(drawn, theme), [drawn, theme]);
  const label = `Market share: ${formatName(market.category)}`;
  const { providers, total } = market;
  return (
    <>
      <Chart
        label={`${label}; ${drawn.map(({ provider, share }) => `${provider} ${formatShare(share)}`).join(', ')}`}
        option={option}
        height={drawn.length * BAR_HEIGHT + 12}
        table={
          <DataTable
            caption={label}
            columns={columnsOf(market.category, includesParked)}
            rows={market.providers}
            keyOf={({ provider_id }: Holder) => provider_id}
          />
        }
      />
      {drawn.length < total && (
        <p className="small soft market-note">
          The chart shows the {formatNumber(drawn.length)} largest of {formatNumber(total)} providers
          {providers.length < total ? `; the table has ${formatNumber(providers.length)}.` : '; the table has all.'}
        </p>
      )}
    </>
  );
}

function barsOf(holders: readonly Holder[], { ink, soft, line }: ChartTheme) {
  return {
    grid: { left: 0, right: 56, top: 4, bottom: 4, containLabel: true },
    xAxis: { type: 'value', show: false },
    yAxis: {
      type: 'category',
      inverse: true,
      data: holders.map(({ provider }) => provider),
      axisLabel: { color: ink, width: 140, overflow: 'truncate' },
      axisLine: { lineStyle: { color: line } },
      axisTick: { show: false },
    },
    tooltip: {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const holder = holders[dataIndex];
        return holder ? `${holder.provider}: ${formatNumber(holder.domains)} domains` : '';
      },
    },
    series: {
      type: 'bar',
      barMaxWidth: 18,
      data: holders.map(({ share }) => share),
      label: {
        show: true,
        position: 'right',
        color: soft,
        formatter: ({ value }: { value: number }) => formatShare(value),
      },
    },
  };
}
