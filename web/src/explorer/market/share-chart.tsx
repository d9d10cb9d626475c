// Providers of a market by share: the largest in the chart, all in the table.
import type { Market } from '@strata/client';
import { Chart } from '../../ui/chart/chart.tsx';
import type { ChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatCount, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { providerColumn } from '../links/columns.tsx';
import { CountLink, usersIn } from '../links/links.tsx';

export type Holder = Market['providers'][number];

const DRAWN = 15;
const BAR_HEIGHT = 28;

const columnsOf = (market: Market, includesParked: boolean): readonly Column<Holder>[] => [
  providerColumn,
  shareColumn,
  domainsColumn(market, includesParked),
  minor(textColumn('Owner', 'owner')),
];

export const shareColumn = numberColumn<Holder>('Share', 'share', formatShare);

/** Links to the counted domains. */
export const domainsColumn = (market: Pick<Market, 'category' | 'role'>, includesParked: boolean) =>
  numberColumn<Holder>('Domains', 'domains', (count, { provider_id: id }) => (
    <CountLink count={count} of={usersIn(market, id, includesParked)} />
  ));

interface ShareChartProps {
  readonly market: Market;
  /** Whether parked domains are counted. */
  readonly includesParked: boolean;
}

export function ShareChart({ market, includesParked }: ShareChartProps) {
  const { category, role, providers, total } = market;
  const drawn = providers.slice(0, DRAWN);
  const label = `Market share: ${formatName(role ?? category)}`;
  return (
    <>
      <Chart
        label={`${label}; ${drawn.map(({ provider, share }) => `${provider} ${formatShare(share)}`).join(', ')}`}
        data={providers}
        draw={barsOf}
        height={drawn.length * BAR_HEIGHT + 48}
        table={
          <DataTable
            caption={label}
            columns={columnsOf(market, includesParked)}
            rows={providers}
            keyOf={({ provider_id }) => provider_id}
          />
        }
      />
      {drawn.length < total && (
        <p className="small soft note">
          The chart shows the {formatNumber(drawn.length)} largest of {formatNumber(total)} providers
          {providers.length < total ? `; the table has ${formatNumber(providers.length)}.` : '; the table has all.'}
        </p>
      )}
    </>
  );
}

function barsOf(providers: readonly Holder[], { ink }: ChartTheme) {
  const holders = providers.slice(0, DRAWN);
  return {
    grid: { left: 0, right: 56, top: 4, bottom: 28, containLabel: true },
    xAxis: {
      type: 'value',
      name: 'Share of the market',
      axisLabel: { formatter: formatShare, hideOverlap: true },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: holders.map(({ provider }) => provider),
      axisLabel: { color: ink, width: 140, overflow: 'truncate' },
      axisTick: { show: false },
    },
    tooltip: {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const holder = holders[dataIndex];
        return holder ? `${holder.provider}: ${formatCount(holder.domains, 'domain')}` : '';
      },
    },
    series: {
      type: 'bar',
      barMaxWidth: 18,
      data: holders.map(({ share }) => share),
      label: {
        show: true,
        position: 'right',
        color: 'inherit',
        formatter: ({ value }: { value: number }) => formatShare(value),
      },
    },
  };
}
