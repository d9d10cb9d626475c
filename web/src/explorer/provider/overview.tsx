// The overview of a provider: size, rank, gains and losses, markets, advisories.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { categoryColumn } from '../links/columns.tsx';
import { AdvisoryLink, CountLink, CustomersLink, ProviderLink, usersIn } from '../links/links.tsx';
import { bandOf } from '../market/concentration.tsx';
import { FlowChart } from '../migrations/flow-chart.tsx';
import type { ProviderBody } from './domains.tsx';

interface OverviewProps {
  readonly provider: ProviderBody;
  readonly source: ReactNode;
}

export function Overview({ provider, source }: OverviewProps) {
  const { provider_id: id, market, advisories, gained_30d: gained, lost_30d: lost } = provider;
  return (
    <>
      <Card title="Summary" foot={source}>
        <Figures>
          <Figure name="Domains" note={`${formatShare(market.share)} of all`}>
            <ProviderLink id={id} tab="domains">
              {formatNumber(provider.domains.total)}
            </ProviderLink>
          </Figure>
          <Figure name="Rank" value={market.rank} note="of all providers, by domains" />
          <Figure
            name="Net change, 30 days"
            value={formatChange(market.change_30d)}
            note={`${formatNumber(gained)} gained, ${formatNumber(lost)} lost`}
          />
          <Figure name="Lost, 30 days" note="customers and their new providers">
            <CustomersLink provider={id} direction="out">
              {formatNumber(lost)}
            </CustomersLink>
          </Figure>
          <Figure name="Gained, 30 days" note="customers and their previous providers">
            <CustomersLink provider={id} direction="in">
              {formatNumber(gained)}
            </CustomersLink>
          </Figure>
        </Figures>
      </Card>
      <Moves provider={provider} />
      <Card title="Markets">
        <DataTable
          caption="Market position by role"
          columns={marketColumns(id)}
          rows={market.by_role}
          keyOf={({ role }) => role}
          empty="Not in any market currently."
        />
        <p className="small soft note">
          Active domains that use it, with at least medium confidence. Parked domains are excluded.
        </p>
      </Card>
      <Card title="Product advisories">
        {advisories ? (
          <Advisories advisories={advisories} />
        ) : (
          <Empty>No advisories are tracked for this provider.</Empty>
        )}
      </Card>
    </>
  );
}

const SIDES = [
  { direction: 'out', end: 'from_id', text: 'migrated away', customers: 'Lost customers' },
  { direction: 'in', end: 'to_id', text: 'migrated here', customers: 'Gained customers' },
] as const;

/** Service migrations to and from the provider. */
function Moves({ provider: body }: { readonly provider: ProviderBody }) {
  const { provider, provider_id: id, flows_30d: flows, moves_30d: counts } = body;
  if (counts.in + counts.out === 0) {
    return (
      <Card title="Service migrations">
        <Empty>No services moved between {provider} and another provider in the last 30 days.</Empty>
      </Card>
    );
  }
  const shown = SIDES.map((side) => ({ ...side, own: flows.filter((flow) => flow[side.end] === id) })).filter(
    ({ own }) => own.length > 0,
  );
  return (
    <>
      {shown.map(({ direction, own, text, customers }) => {
        const count = counts[direction];
        // The answer contains only the largest flows.
        const drawn = own.reduce((sum, { domains }) => sum + domains, 0);
        const [towards, other] = direction === 'out' ? ['from', 'new'] : ['to', 'previous'];
        return (
          <Card
            key={direction}
            title={
              <>
                <Link to="/migrations" search={{ provider: id, direction }}>
                  {formatNumber(count)}
                </Link>{' '}
                {count === 1 ? 'service' : 'services'} {text}
              </>
            }
            width={shown.length > 1 ? 'half' : 'full'}
            actions={
              <CustomersLink provider={id} direction={direction}>
                {customers}
              </CustomersLink>
            }
          >
            <FlowChart
              flows={own}
              period={{ days: 30 }}
              label={`Services that migrated ${towards} ${provider} in 30 days, by ${other} provider`}
            />
            {drawn < count && (
              <p className="small soft">
                Showing {formatNumber(drawn)} of {formatNumber(count)}, the largest flows. The linked list has all.
              </p>
            )}
          </Card>
        );
      })}
      <p className="small soft">
        These figures count services: a domain that migrates both DNS and mail counts twice. <strong>Lost</strong> and{' '}
        <strong>gained</strong> above count domains that completely stopped or newly started using {provider}, once
        each.
      </p>
    </>
  );
}

const marketColumns = (id: string): readonly Column<ProviderBody['market']['by_role'][number]>[] => [
  categoryColumn,
  textColumn('Role', 'role', formatName),
  numberColumn('Rank', 'rank', (rank, { providers }) => (
    <span className="nowrap">
      {formatNumber(rank)} of {formatNumber(providers)}
    </span>
  )),
  numberColumn('Domains', 'domains', (count, market) => <CountLink count={count} of={usersIn(market, id)} />),
  numberColumn('Share', 'share', formatShare),
  {
    name: 'Concentration',
    isMinor: true,
    cell: ({ band }) => <Badge tone={bandOf(band).tone}>{bandOf(band).short}</Badge>,
  },
];

function Advisories({ advisories }: { readonly advisories: NonNullable<ProviderBody['advisories']> }) {
  const { version, product, known_exploited: exploited, top } = advisories;
  return (
    <>
      <Figures>
        <Figure name="Affecting observed versions" value={version} />
        <Figure name="Possibly affecting" value={product} note="version unknown" />
        <Figure name="Known exploited" value={exploited} />
      </Figures>
      <ul className="stack note">
        {top.map(({ id, severity, title, known_exploited: isExploited }) => (
          <li key={id}>
            <AdvisoryLink id={id} /> {severity && <Severity level={severity} />}{' '}
            {isExploited && <Badge tone="bad">exploited</Badge>} <span className="soft">{title}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
