// Compares providers: domains, market share, gains and losses.
import type { Category, StackPaths } from '@strata/client';
import { useQueries } from '@tanstack/react-query';
import { formatChange, formatCount, formatNumber, formatRounded, formatShare } from '../../ui/formats.ts';
import { useKey } from '../answer/session.ts';
import { stackQuery } from '../answer/use-stack.ts';
import { CATEGORIES } from '../links/categories.ts';
import { CategoryLink, CustomersLink, ProviderLink, SearchLink, usersIn } from '../links/links.tsx';
import type { Search } from '../links/search-params.ts';
import { ComparisonCard, type Row } from './comparison.tsx';

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
  { key: 'owner', name: 'Owner', value: ({ owner }) => owner, cell: ({ owner }) => owner || '–' },
  {
    key: 'kinds',
    name: 'Type',
    value: ({ kinds }) => kinds.toSorted().join(),
    cell: ({ kinds }) => kinds.map((kind) => kind.replaceAll('-', ' ')).join(', ') || '–',
  },
  {
    key: 'domains',
    name: 'Domains',
    value: ({ domains }) => domains.total,
    cell: (provider) => toDomains(provider, formatNumber(provider.domains.total)),
  },
  {
    key: 'share',
    name: 'Share of all domains',
    value: ({ market }) => market.share,
    cell: ({ market }) => formatShare(market.share),
  },
  { key: 'rank', name: 'Rank', value: ({ market }) => market.rank, cell: ({ market }) => formatNumber(market.rank) },
  {
    key: 'trend',
    name: 'Change in 30 days',
    value: ({ market }) => market.change_30d,
    cell: ({ market }) => `${trend(market.change_30d)} ${formatChange(market.change_30d)}`,
  },
  {
    key: 'gained',
    name: 'Gained in 30 days',
    value: ({ gained_30d }) => gained_30d,
    cell: (provider) => toCustomers(provider, 'in', provider.gained_30d),
  },
  {
    key: 'lost',
    name: 'Lost in 30 days',
    value: ({ lost_30d }) => lost_30d,
    cell: (provider) => toCustomers(provider, 'out', provider.lost_30d),
  },
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
            <SearchLink of={usersIn(category, provider.provider_id)}>{formatCount(entry.domains, 'domain')}</SearchLink>
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
