// The migration table, newest first.
import type { Migration } from '@strata/client';
import { Confidence } from '../../ui/badge.tsx';
import { formatDay, formatName } from '../../ui/formats.ts';
import { textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { domainColumn, moveColumns } from '../market/columns.tsx';

const columns: readonly Column<Migration>[] = [
  domainColumn,
  ...moveColumns,
  textColumn('Category', ({ category }) => category, formatName),
  {
    name: 'Confirmed',
    cell: ({ confirmed_at }) => <time dateTime={confirmed_at}>{formatDay(confirmed_at)}</time>,
    value: ({ confirmed_at }) => confirmed_at,
  },
  { name: 'Confidence', cell: ({ confidence }) => <Confidence level={confidence} /> },
];

export function MigrationTable({ migrations }: { readonly migrations: readonly Migration[] }) {
  return (
    <div className="nowrap">
      <DataTable caption="Migrations" columns={columns} rows={migrations} keyOf={({ id }: Migration) => id} />
    </div>
  );
}
