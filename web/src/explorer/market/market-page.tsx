// The market page of a category or one of its roles: shares, concentration, coverage, leaders and movers.
import './market.css';
import type { Market as MarketBody } from '@strata/client';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { CATEGORIES, labelled } from '../links/categories.ts';
import { Choices, RoleChoices } from '../links/choices.tsx';
import { changed, oneOf } from '../links/search-params.ts';
import { Concentration, Coverage } from './concentration.tsx';
import { Leaders, Movers } from './movers.tsx';
import { ShareChart } from './share-chart.tsx';

export function Market() {
  const search = useSearch({ from: '/market' });
  const hasParked = search.include_parked === 'true';
  // One answer has all categories: switching between them uses no request.
  const input = { query: { include_parked: hasParked ? ('true' as const) : undefined } };
  const shares = useStack('/stack/v1/intelligence/market-share', input, { keepsLast: 'any' });
  const ofRole = shares.data?.body.roles.find(({ role }) => role === search.role)?.category;
  const category = oneOf(search.category, CATEGORIES) ?? ofRole ?? 'dns';
  return (
    <Page title="Market" lead="Market share, concentration and leading providers by category and role.">
      <div className="row apart">
        <Choices label="Category" choices={labelled(CATEGORIES)} chosen={category} byDefault="" name="category" />
        <Link {...changed({ include_parked: hasParked ? undefined : 'true' })} className="button small">
          {hasParked ? 'Exclude parked domains' : 'Include parked domains'}
        </Link>
      </div>
      <Answer query={shares}>
        {(body, source) => {
          const market = body.categories.find((entry) => entry.category === category);
          if (!market) return <Empty>No domains in this category yet.</Empty>;
          const roles = body.roles.filter((entry) => entry.category === category);
          const role = roles.find((entry) => entry.role === search.role);
          return (
            <>
              <RoleChoices roles={roles} chosen={role?.role} />
              <Shares
                market={role ?? market}
                name={role?.label ?? formatName(category)}
                includesParked={hasParked}
                source={source}
              />
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

interface SharesProps {
  readonly market: MarketBody;
  readonly name: string;
  readonly includesParked: boolean;
  readonly source: ReactNode;
}

function Shares({ market, name, includesParked, source }: SharesProps) {
  const { category, providers } = market;
  return (
    <>
      <Card
        title={`${name}: market share`}
        width="half"
        actions={
          <Link to="/migrations" search={{ category }}>
            Migrations
          </Link>
        }
        foot={source}
      >
        {providers.length === 0 ? (
          <Empty>No known providers.</Empty>
        ) : (
          <ShareChart market={market} includesParked={includesParked} />
        )}
      </Card>
      <div className="half stack">
        <Card title="Concentration">
          <Concentration market={market} />
        </Card>
        <Card title="Coverage">
          <Coverage market={market} />
        </Card>
      </div>
      <Card title={`${name}: leading providers`} width="half">
        <Leaders market={market} includesParked={includesParked} />
        <p className="small soft note">By share of this market.</p>
      </Card>
      <Card title={`${name}: movers, 30 days`} width="half">
        <Movers market={market} includesParked={includesParked} />
        <p className="small soft note">
          Of the {formatNumber(providers.length)} largest in this market. Net change: domains that gained the provider
          here minus domains that lost it, with any confidence, confirmed by a second scan.
        </p>
      </Card>
    </>
  );
}
