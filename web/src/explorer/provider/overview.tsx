// A provider at a glance: size, rank, who came and went, its markets, what its products suffer from.
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Source } from '../answer/source.tsx';
import { bandWords } from '../market/concentration.tsx';
import { CustomersLink } from '../market/customers-link.tsx';
import { FlowChart } from '../migrations/flow-chart.tsx';
import { CountLink, usersIn } from '../search/search-links.tsx';
import { OpenAdvisories } from './open-advisories.tsx';
import { PROVIDER, type ProviderBody, type ProviderPart } from './use-provider.ts';

export function Overview({ provider, input, answer }: ProviderPart) {
  const { provider_id: id, market } = provider;
  return (
    <>
      <Card title="At a glance" foot={<Source path={PROVIDER} input={input} answer={answer} />}>
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
            name="Change of 30 days"
            note={`${formatNumber(provider.gained_30d)} gained, ${formatNumber(provider.lost_30d)} lost`}
          >
            {formatChange(market.change_30d)}
          </Figure>
          <Figure name="Lost in 30 days" note="who they are, where they went">
            <CustomersLink provider={id} direction="out">
              {formatNumber(provider.lost_30d)}
            </CustomersLink>
          </Figure>
          <Figure name="Gained in 30 days" note="who they are, where from">
            <CustomersLink provider={id} direction="in">
              {formatNumber(provider.gained_30d)}
            </CustomersLink>
          </Figure>
        </Figures>
      </Card>
      <Moves provider={provider} />
      <Card title="Its markets" width="half">
        <Markets provider={id} markets={market.by_category} />
      </Card>
      <Card title="Advisories of its products" width="half">
        {provider.advisories ? (
          <OpenAdvisories advisories={provider.advisories} />
        ) : (
          <Empty>None is tracked for it.</Empty>
        )}
      </Card>
    </>
  );
}

/** Those who came are on the left of the provider, those who went on its right. */
function Moves({
  provider: { provider, provider_id: id, flows_30d: flows, moves_30d },
}: Pick<ProviderPart, 'provider'>) {
  if (moves_30d.in + moves_30d.out === 0) {
    return (
      <Card title="Where services came from, where they went">
        <Empty>No service of a domain moved between {provider} and another provider within 30 days.</Empty>
      </Card>
    );
  }
  const sides = [
    {
      direction: 'out',
      own: flows.filter(({ from_id }) => from_id === id),
      title: 'moved away',
      customers: 'Lost customers',
      label: `Services that left ${provider} within 30 days, and where they went`,
    },
    {
      direction: 'in',
      own: flows.filter(({ to_id }) => to_id === id),
      title: 'moved here',
      customers: 'Gained customers',
      label: `Services that came to ${provider} within 30 days, and where from`,
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
          <LeftOut count={moves_30d[direction]} drawn={own.reduce((sum, { domains }) => sum + domains, 0)} />
        </Card>
      ))}
      <p className="small soft market-aside">
        These count services: a domain that moves its DNS and its mail counts twice here, and one that keeps another
        service at {provider} is not lost. <strong>Lost</strong> and <strong>gained</strong> above count domains, once
        each, that stopped or began to use {provider} altogether.
      </p>
    </>
  );
}

/** The answer tells the largest flows alone. */
function LeftOut({ count, drawn }: { readonly count: number; readonly drawn: number }) {
  if (drawn >= count) return null;
  return (
    <p className="small soft">
      The largest flows, {formatNumber(drawn)} of {formatNumber(count)}; the list behind the number has all.
    </p>
  );
}

type MarketOfProvider = ProviderBody['market']['by_category'][number];

const columnsOf = (id: string): readonly Column<MarketOfProvider>[] => [
  {
    name: 'Category',
    cell: ({ category }) => (
      <Link to="/market" search={{ category }}>
        {formatName(category)}
      </Link>
    ),
    value: ({ category }) => category,
  },
  {
    name: 'Rank',
    isNumber: true,
    cell: ({ rank, providers }) => (
      <span className="provider-rank">
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
  { name: 'Share', isNumber: true, cell: ({ share }) => formatShare(share), value: ({ share }) => share },
  {
    name: 'Concentration',
    cell: ({ band }) => <Badge tone={bandWords(band).tone}>{bandWords(band).short}</Badge>,
  },
];

interface MarketsProps {
  readonly provider: string;
  readonly markets: readonly MarketOfProvider[];
}

function Markets({ provider, markets }: MarketsProps) {
  if (markets.length === 0) return <Empty>It is in no market now.</Empty>;
  return (
    <>
      <DataTable
        caption="Its markets"
        columns={columnsOf(provider)}
        rows={markets}
        keyOf={({ category }: MarketOfProvider) => category}
      />
      <p className="small soft provider-note">
        Domains in use that show it with at least medium confidence; parked ones are left out.
      </p>
    </>
  );
}
