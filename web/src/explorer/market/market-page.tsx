// The market of one category: shares, how concentrated it is, what is known of it, who leads and who moves.
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
  // All categories in one answer: to look at another costs nothing.
  const input = { query: { include_parked: hasParked ? ('true' as const) : undefined } };
  const shares = useStack(SHARES, input, { keepsLast: 'any' });
  return (
    <Page title="Market" lead="Who runs the web's parts, and how much of them.">
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
          {hasParked ? 'Leave parked domains out' : 'Count parked domains too'}
        </Link>
      </div>
      <Answer query={shares} lines={14}>
        {(body, answer) => {
          const market = body.categories.find((entry) => entry.category === category);
          if (!market) return <Empty>No domain has anything of this category yet.</Empty>;
          return (
            <Shares
              market={market}
              includesParked={hasParked}
              foot={<Source path={SHARES} input={input} answer={answer} />}
            />
          );
        }}
      </Answer>
      <Leading category={category} />
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
      <Card title={`${name}: share of providers`} width="half" actions={moves} foot={foot}>
        {market.providers.length === 0 ? (
          <Empty>No provider is known here.</Empty>
        ) : (
          <ShareChart market={market} includesParked={includesParked} />
        )}
      </Card>
      <div className="half market-stack">
        <Card title="Concentration">
          <Concentration market={market} />
        </Card>
        <Card title="What is known">
          <Coverage market={market} />
        </Card>
      </div>
    </>
  );
}

function Leading({ category }: { readonly category: Category }) {
  const query = useStack(LEADERS, {});
  const note = 'Among the fifty providers with most domains; numbers are over all their categories.';
  return (
    <>
      <Card title="Largest providers here" width="half">
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
      <Card title="Movers of 30 days" width="half">
        <Answer query={query} lines={8}>
          {(body) => (
            <>
              <Movers leaders={leadersOf(body.providers, category)} />
              <p className="small soft market-note">Gained less lost, confirmed by a second look.</p>
            </>
          )}
        </Answer>
      </Card>
    </>
  );
}
