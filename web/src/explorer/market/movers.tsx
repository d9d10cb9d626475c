// Leaders and movers among the 50 largest providers.
import { Link } from '@tanstack/react-router';
import { formatChange, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Category } from '../answer/categories.ts';
import { providerColumn } from './columns.tsx';
import { CustomersLink } from './links.tsx';

export interface Leader {
  readonly rank: number;
  readonly provider: string;
  readonly provider_id: string;
  readonly domains: number;
  readonly share: number;
  readonly change_30d: number;
  readonly categories: readonly string[];
}

const domains: Column<Leader> = {
  name: 'Domains, all categories',
  isNumber: true,
  cell: (leader) => (
    <Link to="/provider/$provider" params={{ provider: leader.provider_id }} search={{ tab: 'domains' }}>
      {formatNumber(leader.domains)}
    </Link>
  ),
  value: (leader) => leader.domains,
};
const change = numberColumn<Leader>('Change, 30 days', ({ change_30d }) => change_30d, formatChange);
const leading: readonly Column<Leader>[] = [
  numberColumn('Overall rank', ({ rank }) => rank),
  providerColumn,
  domains,
  numberColumn('Overall share', ({ share }) => share, formatShare),
  change,
];
/** Links to the gained and lost customers whose difference is the change. */
const lists: Column<Leader> = {
  name: 'Customers',
  cell: ({ provider_id: id }) => (
    <span>
      <CustomersLink provider={id} direction="in">
        gained
      </CustomersLink>{' '}
      <CustomersLink provider={id} direction="out">
        lost
      </CustomersLink>
    </span>
  ),
};
const moving: readonly Column<Leader>[] = [providerColumn, domains, change, lists];
const SHOWN = 8;

/** The leaders in a category. */
export function leadersOf(leaders: readonly Leader[], category: Category): readonly Leader[] {
  return leaders.filter(({ categories }) => categories.includes(category));
}

export function Leaders({ leaders }: { readonly leaders: readonly Leader[] }) {
  if (leaders.length === 0) return <Empty>None of the 50 largest providers is in this category.</Empty>;
  return <DataTable caption="Leaders" columns={leading} rows={leaders.slice(0, SHOWN)} keyOf={keyOf} />;
}

export function Movers({ leaders }: { readonly leaders: readonly Leader[] }) {
  const rows = leaders
    .filter(({ change_30d }) => change_30d !== 0)
    .toSorted((a, b) => Math.abs(b.change_30d) - Math.abs(a.change_30d));
  if (rows.length === 0) return <Empty>No leader gained or lost domains in the last 30 days.</Empty>;
  return <DataTable caption="Movers" columns={moving} rows={rows.slice(0, SHOWN)} keyOf={keyOf} />;
}

const keyOf = ({ provider_id }: Leader) => provider_id;
