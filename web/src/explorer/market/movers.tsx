// Leaders and movers among the 50 largest providers.
import type { Category, StackPaths } from '@strata/client';
import { formatChange, formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { providerColumn } from '../links/columns.tsx';
import { CustomersLink, ProviderLink } from '../links/links.tsx';

type Leader = StackPaths['/stack/v1/stats/providers']['body']['providers'][number];

const domains = numberColumn<Leader>('Domains, all categories', 'domains', (count, { provider_id: id }) => (
  <ProviderLink id={id} tab="domains">
    {formatNumber(count)}
  </ProviderLink>
));
const change = numberColumn<Leader>('Change, 30 days', 'change_30d', formatChange);
const leading: readonly Column<Leader>[] = [
  numberColumn('Overall rank', 'rank'),
  providerColumn,
  domains,
  numberColumn('Overall share', 'share', formatShare),
  change,
];
const moving: readonly Column<Leader>[] = [
  providerColumn,
  domains,
  change,
  // Links to the gained and lost customers whose difference is the change.
  {
    name: 'Customers',
    cell: ({ provider_id: id }) => (
      <>
        <CustomersLink provider={id} direction="in">
          gained
        </CustomersLink>{' '}
        <CustomersLink provider={id} direction="out">
          lost
        </CustomersLink>
      </>
    ),
  },
];
const SHOWN = 8;

interface LeadersProps {
  readonly leaders: readonly Leader[];
  readonly category: Category;
}

const keyOf = ({ provider_id }: Leader) => provider_id;
const inCategory = ({ leaders, category }: LeadersProps) =>
  leaders.filter(({ categories }) => categories.includes(category));

export function Leaders(props: LeadersProps) {
  return (
    <DataTable
      caption="Leaders"
      columns={leading}
      rows={inCategory(props).slice(0, SHOWN)}
      keyOf={keyOf}
      empty="None of the 50 largest providers is in this category."
    />
  );
}

export function Movers(props: LeadersProps) {
  const rows = inCategory(props)
    .filter(({ change_30d }) => change_30d !== 0)
    .toSorted((a, b) => Math.abs(b.change_30d) - Math.abs(a.change_30d));
  return (
    <DataTable
      caption="Movers"
      columns={moving}
      rows={rows.slice(0, SHOWN)}
      keyOf={keyOf}
      empty="No leader gained or lost domains in the last 30 days."
    />
  );
}
