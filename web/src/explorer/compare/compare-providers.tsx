// Compares providers: domains, market share, gains and losses.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatChange, formatNumber, formatShare } from '../../ui/formats.ts';
import { CATEGORIES, type Category } from '../answer/categories.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { CategoryLink, CustomersLink } from '../market/links.tsx';
import { CountLink, usersIn } from '../search/search-links.tsx';
import { ComparisonCard, type Row } from './comparison.tsx';

type Provider = StackPaths['/stack/v1/providers/{provider}']['body'];

interface CompareProps {
  readonly names: readonly string[];
  readonly search: Readonly<Record<string, string>>;
}

/** `limit: 1`: only the market figures are used, not the list of domains. */
const inputOf = (provider = '') => ({ path: { provider }, query: { limit: 1 } });

function useProvider(provider: string | undefined) {
  return useStack('/stack/v1/providers/{provider}', inputOf(provider), { isEnabled: provider !== undefined });
}

const toProvider = (provider: Provider, text: string) => (
  <Link to="/provider/$provider" params={{ provider: provider.provider_id }} search={{ tab: 'domains' }}>
    {text}
  </Link>
);

const toCustomers = (provider: Provider, direction: 'in' | 'out', text: string) => (
  <CustomersLink provider={provider.provider_id} direction={direction}>
    {text}
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
    cell: (provider) => toProvider(provider, formatNumber(provider.domains.total)),
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
    cell: (provider) => toCustomers(provider, 'in', formatNumber(provider.gained_30d)),
  },
  {
    key: 'lost',
    name: 'Lost in 30 days',
    value: ({ lost_30d }) => lost_30d,
    cell: (provider) => toCustomers(provider, 'out', formatNumber(provider.lost_30d)),
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
          <span className="small soft compare-note">
            <CountLink count={entry.domains} of={usersIn(category, provider.provider_id, false)} />{' '}
            {entry.domains === 1 ? 'domain' : 'domains'}, rank {formatNumber(entry.rank)} of{' '}
            {formatNumber(entry.providers)}
          </span>
          <span className="small soft compare-note">
            HHI {formatNumber(entry.hhi === null ? null : Math.round(entry.hhi))}, {entry.band.replaceAll('_', ' ')}
          </span>
        </>
      );
    },
  };
}

export function CompareProviders({ names, search }: CompareProps) {
  // The number of hooks must be constant: there is one per possible column, and those without a name send no request.
  const queries = [
    useProvider(names[0]),
    useProvider(names[1]),
    useProvider(names[2]),
    useProvider(names[3]),
    useProvider(names[4]),
  ];
  const isIn = (category: Category) =>
    queries.some(({ data }) => data?.body.market.by_category.some((entry) => entry.category === category));
  return (
    <ComparisonCard
      kind="providers"
      names={names}
      queries={queries}
      rows={[...ROWS, ...CATEGORIES.filter(isIn).map(marketRow)]}
      search={search}
      head={(provider) => toProvider(provider, provider.provider)}
      nameOf={({ provider }) => provider}
      source={(name, answer) => <Source path="/stack/v1/providers/{provider}" input={inputOf(name)} answer={answer} />}
    />
  );
}
