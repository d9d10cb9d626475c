// A provider at a glance: size, rank, who came and went, its markets, what its products suffer from.
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { formatChange, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { bandWords } from '../market/concentration.tsx';
import { FlowChart } from '../market/flow-chart.tsx';
import { Source } from '../source.tsx';
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
          <Figure name="Rank" note="by domains">
            <Link to="/market" search={marketOf(provider)}>
              {formatNumber(market.rank)}
            </Link>
          </Figure>
          <Figure name="Change of 30 days" note="gained less lost">
            <Link to="/provider/$provider" params={{ provider: id }} search={{ tab: 'adoption' }}>
              {formatChange(market.change_30d)}
            </Link>
          </Figure>
          <Movement name="Gained in 30 days" provider={provider} direction="in" />
          <Movement name="Lost in 30 days" provider={provider} direction="out" />
        </Figures>
      </Card>
      <Moves provider={provider} />
      <Card title="Its markets" width="half">
        <Markets markets={market.by_category} />
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

interface MovementProps {
  readonly name: string;
  readonly provider: ProviderBody;
  readonly direction: 'in' | 'out';
}

/** Those who came from or went to another provider are a list; those who only began or ceased are a number of each day. */
function Movement({ name, provider: { provider_id: id, flows_30d, gained_30d, lost_30d }, direction }: MovementProps) {
  const number = formatNumber(direction === 'in' ? gained_30d : lost_30d);
  const hasList = flows_30d.some(({ from_id, to_id }) => (direction === 'in' ? to_id : from_id) === id);
  if (!hasList) {
    return (
      <Figure name={name} note="day by day">
        <Link to="/provider/$provider" params={{ provider: id }} search={{ tab: 'adoption' }}>
          {number}
        </Link>
      </Figure>
    );
  }
  return (
    <Figure name={name} note={direction === 'in' ? 'where they came from' : 'where they went'}>
      <Link to="/migrations" search={{ provider: id, direction, days: '30' }}>
        {number}
      </Link>
    </Figure>
  );
}

const marketOf = ({ categories: [category] }: ProviderBody): { category?: string } => (category ? { category } : {});

/** Those who came are on the left of the provider, those who went on its right. */
function Moves({ provider: { provider, provider_id: id, flows_30d: flows } }: { readonly provider: ProviderBody }) {
  const gained = flows.filter(({ to_id }) => to_id === id);
  const lost = flows.filter(({ from_id }) => from_id === id);
  const moves = (some: typeof flows) => {
    const count = some.reduce((sum, { domains }) => sum + domains, 0);
    return `${formatNumber(count)} ${count === 1 ? 'move' : 'moves'}`;
  };
  if (flows.length === 0) {
    return (
      <Card title="Where they came from, where they went">
        <Empty>No domain moved between {provider} and another provider within 30 days.</Empty>
      </Card>
    );
  }
  return (
    <>
      {lost.length > 0 && (
        <Card
          title={`Where they went: ${moves(lost)}`}
          width={gained.length > 0 ? 'half' : 'full'}
          actions={
            <Link to="/migrations" search={{ provider: id, direction: 'out', days: '30' }}>
              Lost customers
            </Link>
          }
        >
          <FlowChart flows={lost} label={`Domains that left ${provider} within 30 days, and where they went`} />
        </Card>
      )}
      {gained.length > 0 && (
        <Card
          title={`Where they came from: ${moves(gained)}`}
          width={lost.length > 0 ? 'half' : 'full'}
          actions={
            <Link to="/migrations" search={{ provider: id, direction: 'in', days: '30' }}>
              Won customers
            </Link>
          }
        >
          <FlowChart flows={gained} label={`Domains that came to ${provider} within 30 days, and where from`} />
        </Card>
      )}
      <p className="small soft provider-note">
        Moves are counted for each service. A domain that moves one and keeps another here is not lost; one that merely
        began or ceased to use {provider} has no other end.
      </p>
    </>
  );
}

type MarketOfProvider = ProviderBody['market']['by_category'][number];

const columns: readonly Column<MarketOfProvider>[] = [
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
  { name: 'Domains', isNumber: true, cell: ({ domains }) => formatNumber(domains), value: ({ domains }) => domains },
  { name: 'Share', isNumber: true, cell: ({ share }) => formatShare(share), value: ({ share }) => share },
  {
    name: 'Concentration',
    cell: ({ band }) => <Badge tone={bandWords(band).tone}>{bandWords(band).short}</Badge>,
  },
];

function Markets({ markets }: { readonly markets: readonly MarketOfProvider[] }) {
  if (markets.length === 0) return <Empty>It is in no market now.</Empty>;
  return <DataTable caption="Its markets" columns={columns} rows={markets} keyOf={({ category }) => category} />;
}
