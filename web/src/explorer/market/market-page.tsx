// The market page of a category: shares, concentration, coverage, leaders and movers.
import './market.css';
import type { Market as MarketBody } from '@strata/client';
import { Link, useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { formatName } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { CATEGORIES, type Category, categoryOf } from '../answer/categories.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { Choices, choice } from './choices.tsx';
import { Concentration } from './concentration.tsx';
import { Coverage } from './coverage.tsx';
import { Leaders, leadersOf, Movers } from './movers.tsx';
import { ShareChart } from './share-chart.tsx';

const SHARES = '/stack/v1/intelligence/market-share';
const LEADERS = '/stack/v1/stats/providers';

export function Market() {
  const search = useSearch({ from: '/market' });
  const category = categoryOf(search.category) ?? 'dns';
  const hasParked = search.include_parked === 'true';
  // One answer has all categories: switching between them uses no request.
  const input = { query: { include_parked: hasParked ? ('true' as const) : undefined } };
  const shares = useStack(SHARES, input, { keepsLast: 'any' });
  return (
    <Page title="Market" lead="Market share, concentration and leading providers by category.">
      <div className="market-tools">
        <Choices label="Category">
          {CATEGORIES.map((other) => (
            <Link
              key={other}
              to="/market"
              search={(before) => ({ ...before, category: other })}
              resetScroll={false}
              {...choice(other === category)}
            >
              {formatName(other)}
            </Link>
          ))}
        </Choices>
        <Link
          to="/market"
          search={{ category, ...(hasParked ? {} : { include_parked: 'true' }) }}
          resetScroll={false}
          className="button small"
        >
          {hasParked ? 'Exclude parked domains' : 'Include parked domains'}
        </Link>
      </div>
      <Answer query={shares} lines={14}>
        {(body, answer) => {
          const market = body.categories.find((entry) => entry.category === category);
          if (!market) return <Empty>No domains in this category yet.</Empty>;
          return (
            <Shares
              market={market}
              includesParked={hasParked}
              foot={<Source path={SHARES} input={input} answer={answer} />}
            />
          );
        }}
      </Answer>
      <LeadersAndMovers category={category} />
    </Page>
  );
}

interface SharesProps {
  readonly market: MarketBody;
  readonly includesParked: boolean;
  readonly foot: React.ReactNode;
}

function Shares({ market, includesParked, foot }: SharesProps) {
  const name = formatName(market.category);
  const moves = (
    <Link to="/migrations" search={{ category: market.category }}>
      Migrations
    </Link>
  );
  return (
    <>
      <Card title={`${name}: market share`} width="half" actions={moves} foot={foot}>
        {market.providers.length === 0 ? (
          <Empty>No known providers.</Empty>
        ) : (
          <ShareChart market={market} includesParked={includesParked} />
        )}
      </Card>
      <div className="half market-stack">
        <Card title="Concentration">
          <Concentration market={market} />
        </Card>
        <Card title="Coverage">
          <Coverage market={market} />
        </Card>
      </div>
    </>
  );
}

function LeadersAndMovers({ category }: { readonly category: Category }) {
  const query = useStack(LEADERS, {});
  const note = 'Of the 50 largest providers; the figures cover all their categories.';
  return (
    <>
      <Card title="Leading providers" width="half">
        <Answer query={query} lines={8}>
          {(body, answer) => (
            <>
              <Leaders leaders={leadersOf(body.providers, category)} />
              <p className="small soft market-note">{note}</p>
              <Source path={LEADERS} input={{}} answer={answer} />
            </>
          )}
        </Answer>
      </Card>
      <Card title="Movers, 30 days" width="half">
        <Answer query={query} lines={8}>
          {(body) => (
            <>
              <Movers leaders={leadersOf(body.providers, category)} />
              <p className="small soft market-note">
                Net change: gained minus lost domains, confirmed by a second scan.
              </p>
            </>
          )}
        </Answer>
      </Card>
    </>
  );
}
