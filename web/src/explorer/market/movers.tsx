// Leaders and movers of one market.
import type { Market } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatChange } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { providerColumn } from '../links/columns.tsx';
import { domainsColumn, type Holder, shareColumn } from './share-chart.tsx';

const change = numberColumn<Holder>('Change, 30 days', 'change_30d', formatChange);
const SHOWN = 8;

interface MarketTableProps {
  readonly market: Market;
  /** Whether parked domains are counted. */
  readonly includesParked: boolean;
}

const keyOf = ({ provider_id }: Holder) => provider_id;

export function Leaders({ market, includesParked }: MarketTableProps) {
  const columns: readonly Column<Holder & { readonly rank: number }>[] = [
    numberColumn('Rank', 'rank'),
    providerColumn,
    shareColumn,
    change,
    domainsColumn(market, includesParked),
  ];
  const rows = market.providers.slice(0, SHOWN).map((holder, i) => ({ ...holder, rank: i + 1 }));
  return <DataTable caption="Leaders" columns={columns} rows={rows} keyOf={keyOf} empty="No known providers." />;
}

export function Movers({ market, includesParked }: MarketTableProps) {
  const { category, providers } = market;
  const columns: readonly Column<Holder>[] = [
    providerColumn,
    change,
    domainsColumn(market, includesParked),
    {
      name: 'Migrations',
      cell: ({ provider, provider_id: id }) => (
        <Link to="/migrations" search={{ category, provider: id }}>
          View<span className="hidden-text"> those of {provider}</span>
        </Link>
      ),
    },
  ];
  const moved = ({ change_30d }: Holder) => Math.abs(change_30d ?? 0);
  const rows = providers.filter((holder) => moved(holder) > 0).toSorted((a, b) => moved(b) - moved(a));
  return (
    <DataTable
      caption="Movers"
      columns={columns}
      rows={rows.slice(0, SHOWN)}
      keyOf={keyOf}
      empty="None of these providers gained or lost domains in the last 30 days."
    />
  );
}
