// Who leads and who moves: the fifty providers with most domains, and their change in 30 days.
import { Link } from '@tanstack/react-router';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { formatChange, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import type { Category } from '../categories.ts';
import { ProviderLink } from './links.tsx';

export interface Leader {
  readonly rank: number;
  readonly provider: string;
  readonly provider_id: string;
  readonly domains: number;
  readonly share: number;
  readonly change_30d: number;
  readonly categories: readonly string[];
}

const name: Column<Leader> = {
  name: 'Provider',
  cell: ({ provider, provider_id }) => <ProviderLink id={provider_id} name={provider} />,
  value: ({ provider }) => provider,
};
const domains: Column<Leader> = {
  name: 'Domains',
  isNumber: true,
  cell: (leader) => (
    <Link to="/provider/$provider" params={{ provider: leader.provider_id }} search={{ tab: 'domains' }}>
      {formatNumber(leader.domains)}
    </Link>
  ),
  value: (leader) => leader.domains,
};
const change: Column<Leader> = {
  name: '30 days',
  isNumber: true,
  cell: ({ provider_id, change_30d }) => (
    <Link
      to="/migrations"
      search={{ provider: provider_id, direction: change_30d < 0 ? 'out' : 'in', days: '30' }}
      aria-label={`${formatChange(change_30d)}: its migrations`}
    >
      {formatChange(change_30d)}
    </Link>
  ),
  value: ({ change_30d }) => change_30d,
};
const leading: readonly Column<Leader>[] = [
  { name: 'Rank', isNumber: true, cell: ({ rank }) => formatNumber(rank), value: ({ rank }) => rank },
  name,
  domains,
  { name: 'Share', isNumber: true, cell: ({ share }) => formatShare(share), value: ({ share }) => share },
  change,
];
const moving: readonly Column<Leader>[] = [name, domains, change];
const SHOWN = 8;

/** Of all categories, or of one. */
export function leadersOf(leaders: readonly Leader[], category: Category): readonly Leader[] {
  return leaders.filter(({ categories }) => categories.includes(category));
}

export function Leaders({ leaders }: { readonly leaders: readonly Leader[] }) {
  if (leaders.length === 0) return <Empty>None of the fifty providers with most domains is in this market.</Empty>;
  return <DataTable caption="Leaders" columns={leading} rows={leaders.slice(0, SHOWN)} keyOf={keyOf} />;
}

export function Movers({ leaders }: { readonly leaders: readonly Leader[] }) {
  const rows = leaders
    .filter(({ change_30d }) => change_30d !== 0)
    .toSorted((a, b) => Math.abs(b.change_30d) - Math.abs(a.change_30d));
  if (rows.length === 0) return <Empty>Nobody among the leaders gained or lost in 30 days.</Empty>;
  return <DataTable caption="Movers" columns={moving} rows={rows.slice(0, SHOWN)} keyOf={keyOf} />;
}

const keyOf = ({ provider_id }: Leader) => provider_id;
