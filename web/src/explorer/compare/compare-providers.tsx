// Compares providers: domains, market share, gains and losses.
import type { Category, StackPaths } from '@strata/client';
import { useQueries } from '@tanstack/react-query';
import { formatChange, formatCount, formatNumber, formatRounded, formatShare } from '../../ui/formats.ts';
import { useKey } from '../answer/session.ts';
import { stackQuery } from '../answer/use-stack.ts';
import { CATEGORIES } from '../links/categories.ts';
import { CategoryLink, CustomersLink, ProviderLink, SearchLink, usersIn } from '../links/links.tsx';
import type { Search } from '../links/search-params.ts';
import { ComparisonCard, type Row, rowOf } from './comparison.tsx';

const PATH = '/stack/v1/providers/{provider}';
type Provider = StackPaths[typeof PATH]['body'];

interface CompareProps {
  readonly names: readonly string[];
  readonly search: Search;
}

const toDomains = (provider: Provider, text: string) => (
  <ProviderLink id={provider.provider_id} name={text} tab="domains" />
);

const toCustomers = (provider: Provider, direction: 'in' | 'out', count: number) => (
  <CustomersLink provider={provider.provider_id} direction={direction}>
    {formatNumber(count)}
  </CustomersLink>
);

const ROWS: readonly Row<Provider>[] = [
  rowOf(
    'Owner',
    ({ owner }) => owner,
    (owner) => owner || '–',
  ),
  rowOf(
    'Type',
    ({ kinds }) => kinds.toSorted().join(', ').replaceAll('-', ' '),
    (kinds) => kinds || '–',
  ),
  rowOf(
    'Domains',
    ({ domains }) => domains.total,
    (total, provider) => toDomains(provider, formatNumber(total)),
  ),
  rowOf(
    'Share of all domains',
    ({ market }) => market.share,
    (share) => formatShare(share),
  ),
  rowOf(
    'Rank',
    ({ market }) => market.rank,
    (rank) => formatNumber(rank),
  ),
  rowOf(
    'Change in 30 days',
    ({ market }) => market.change_30d,
    (change) => `${trend(change)} ${formatChange(change)}`,
  ),
  rowOf(
    'Gained in 30 days',
    ({ gained_30d }) => gained_30d,
    (gained, provider) => toCustomers(provider, 'in', gained),
  ),
  rowOf(
    'Lost in 30 days',
    ({ lost_30d }) => lost_30d,
    (lost, provider) => toCustomers(provider, 'out', lost),
  ),
];

const trend = (change: number) => (change > 0 ? '▲' : change < 0 ? '▼' : '■');

/** One row per market in which any of them is present: share, rank and concentration. */
function marketRow(category: Category): Row<Provider> {
  const of = ({ market }: Provider) => market.by_category.find((entry) => entry.category === category);
  return {
    key: category,
    name: <CategoryLink category={category} />,
    value: (provider) => of(provider)?.share ?? 'not present',
    cell: (provider) => {
      const entry = of(provider);
      if (!entry) return <span className="soft">not present</span>;
      return (
        <>
          {formatShare(entry.share)}
          <span className="small soft block">
            <SearchLink of={usersIn({ category }, provider.provider_id)}>
              {formatCount(entry.domains, 'domain')}
            </SearchLink>
            , rank {formatNumber(entry.rank)} of {formatNumber(entry.providers)}
          </span>
          <span className="small soft block">
            HHI {formatRounded(entry.hhi)}, {entry.band.replaceAll('_', ' ')}
          </span>
        </>
      );
    },
  };
}

export function CompareProviders({ names, search }: CompareProps) {
  const key = useKey();
  const queries = useQueries({
    // `limit: 1`: only the market figures are used, not the list of domains.
    queries: names.map((provider) => stackQuery(PATH, { path: { provider }, query: { limit: 1 } }, { key })),
  });
  const present = new Set(
    queries.flatMap(({ data }) => data?.body.market.by_category.map(({ category }) => category) ?? []),
  );
  return (
    <ComparisonCard
      kind="providers"
      names={names}
      queries={queries}
      rows={[...ROWS, ...CATEGORIES.filter((category) => present.has(category)).map(marketRow)]}
      search={search}
      head={(provider) => toDomains(provider, provider.provider)}
    />
  );
}
