// The overview of a provider: size, rank, gains and losses, markets, advisories.
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Source } from '../answer/source.tsx';
import { categoryColumn } from '../market/columns.tsx';
import { bandOf } from '../market/concentration.tsx';
import { CustomersLink } from '../market/links.tsx';
import { FlowChart } from '../migrations/flow-chart.tsx';
import { CountLink, usersIn } from '../search/search-links.tsx';
import { OpenAdvisories } from './open-advisories.tsx';
import { PROVIDER, type ProviderBody, type ProviderProps } from './use-provider.ts';

export function Overview({ provider, input, answer }: ProviderProps) {
  const { provider_id: id, market } = provider;
  return (
    <>
      <Card title="Summary" foot={<Source path={PROVIDER} input={input} answer={answer} />}>
        <Figures>
          <Figure name="Domains" note={`${formatShare(market.share)} of all`}>
            <Link to="/provider/$provider" params={{ provider: id }} search={{ tab: 'domains' }}>
              {formatNumber(provider.domains.total)}
            </Link>
          </Figure>
          <Figure name="Rank" note="of all providers, by domains">
            {formatNumber(market.rank)}
          </Figure>
          <Figure
            name="Net change, 30 days"
            note={`${formatNumber(provider.gained_30d)} gained, ${formatNumber(provider.lost_30d)} lost`}
          >
            {formatChange(market.change_30d)}
          </Figure>
          <Figure name="Lost, 30 days" note="customers and their new providers">
            <CustomersLink provider={id} direction="out">
              {formatNumber(provider.lost_30d)}
            </CustomersLink>
          </Figure>
          <Figure name="Gained, 30 days" note="customers and their previous providers">
            <CustomersLink provider={id} direction="in">
              {formatNumber(provider.gained_30d)}
            </CustomersLink>
          </Figure>
        </Figures>
      </Card>
      <Moves provider={provider} />
      <Card title="Markets" width="half">
        <Markets provider={id} markets={market.by_category} />
      </Card>
      <Card title="Product advisories" width="half">
        {provider.advisories ? (
          <OpenAdvisories advisories={provider.advisories} />
        ) : (
          <Empty>No advisories are tracked for this provider.</Empty>
        )}
      </Card>
    </>
  );
}

/** Service migrations to and from the provider. */
function Moves({
  provider: { provider, provider_id: id, flows_30d: flows, moves_30d },
}: Pick<ProviderProps, 'provider'>) {
  if (moves_30d.in + moves_30d.out === 0) {
    return (
      <Card title="Service migrations">
        <Empty>No services moved between {provider} and another provider in the last 30 days.</Empty>
      </Card>
    );
  }
  const sides = [
    {
      direction: 'out',
      own: flows.filter(({ from_id }) => from_id === id),
      title: 'migrated away',
      customers: 'Lost customers',
      label: `Services that migrated from ${provider} in 30 days, by new provider`,
    },
    {
      direction: 'in',
      own: flows.filter(({ to_id }) => to_id === id),
      title: 'migrated here',
      customers: 'Gained customers',
      label: `Services that migrated to ${provider} in 30 days, by previous provider`,
    },
  ] as const;
  const shown = sides.filter(({ own }) => own.length > 0);
  return (
    <>
      {shown.map(({ direction, own, title, customers, label }) => (
        <Card
          key={direction}
          title={
            <>
              <Link to="/migrations" search={{ provider: id, direction }}>
                {formatNumber(moves_30d[direction])}
              </Link>{' '}
              {moves_30d[direction] === 1 ? 'service' : 'services'} {title}
            </>
          }
          width={shown.length > 1 ? 'half' : 'full'}
          actions={
            <CustomersLink provider={id} direction={direction}>
              {customers}
            </CustomersLink>
          }
        >
          <FlowChart flows={own} period={{ days: 30 }} label={label} />
          <Omitted count={moves_30d[direction]} drawn={own.reduce((sum, { domains }) => sum + domains, 0)} />
        </Card>
      ))}
      <p className="small soft market-aside">
        These figures count services: a domain that migrates both DNS and mail counts twice. <strong>Lost</strong> and{' '}
        <strong>gained</strong> above count domains that completely stopped or newly started using {provider}, once
        each.
      </p>
    </>
  );
}

/** The answer contains only the largest flows. */
function Omitted({ count, drawn }: { readonly count: number; readonly drawn: number }) {
  if (drawn >= count) return null;
  return (
    <p className="small soft">
      Showing {formatNumber(drawn)} of {formatNumber(count)}, the largest flows. The linked list has all.
    </p>
  );
}

type MarketOfProvider = ProviderBody['market']['by_category'][number];

const columnsOf = (id: string): readonly Column<MarketOfProvider>[] => [
  categoryColumn,
  {
    name: 'Rank',
    isNumber: true,
    cell: ({ rank, providers }) => (
      <span className="nowrap">
        {formatNumber(rank)} of {formatNumber(providers)}
      </span>
    ),
    value: ({ rank }) => rank,
  },
  {
    name: 'Domains',
    isNumber: true,
    cell: ({ category, domains }) => <CountLink count={domains} of={usersIn(category, id, false)} />,
    value: ({ domains }) => domains,
  },
  numberColumn('Share', ({ share }) => share, formatShare),
  {
    name: 'Concentration',
    cell: ({ band }) => <Badge tone={bandOf(band).tone}>{bandOf(band).short}</Badge>,
  },
];

interface MarketsProps {
  readonly provider: string;
  readonly markets: readonly MarketOfProvider[];
}

function Markets({ provider, markets }: MarketsProps) {
  if (markets.length === 0) return <Empty>Not in any market currently.</Empty>;
  return (
    <>
      <DataTable
        caption="Market position by category"
        columns={columnsOf(provider)}
        rows={markets}
        keyOf={({ category }: MarketOfProvider) => category}
      />
      <p className="small soft provider-note">
        Active domains that use it, with at least medium confidence. Parked domains are excluded.
      </p>
    </>
  );
}
