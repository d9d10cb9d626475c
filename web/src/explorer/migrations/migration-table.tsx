// The migration table, newest first.
import type { Migration } from '@strata/client';
import { Confidence } from '../../ui/badge.tsx';
import { formatDay, formatName } from '../../ui/formats.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { DomainLink, ProviderLink } from '../market/links.tsx';

const columns: readonly Column<Migration>[] = [
  {
    name: 'Domain',
    cell: ({ domain }) => <DomainLink domain={domain} />,
    value: ({ domain }) => domain,
  },
  {
    name: 'From',
    cell: ({ from, from_id }) => <ProviderLink id={from_id} name={from} />,
    value: ({ from }) => from,
  },
  { name: 'To', cell: ({ to, to_id }) => <ProviderLink id={to_id} name={to} />, value: ({ to }) => to },
  { name: 'Category', cell: ({ category }) => formatName(category), value: ({ category }) => category },
  {
    name: 'Confirmed',
    cell: ({ confirmed_at }) => <time dateTime={confirmed_at}>{formatDay(confirmed_at)}</time>,
    value: ({ confirmed_at }) => confirmed_at,
  },
  { name: 'Confidence', cell: ({ confidence }) => <Confidence level={confidence} /> },
];

export function MigrationTable({ migrations }: { readonly migrations: readonly Migration[] }) {
  return (
    <div className="market-oneline">
      <DataTable caption="Migrations" columns={columns} rows={migrations} keyOf={({ id }: Migration) => id} />
    </div>
  );
}
