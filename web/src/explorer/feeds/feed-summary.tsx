// Statistics of all feeds.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { MentionsChart } from './mentions-chart.tsx';

export function FeedSummary({ stats }: { readonly stats: StackPaths['/stack/v1/feeds/stats']['body'] }) {
  const { feeds, polled, failing, items, mentions, domains, last_poll } = stats;
  return (
    <>
      <Figures>
        <Figure name="Feeds" note={`${formatNumber(feeds.active)} active, ${formatNumber(feeds.gone)} stopped`}>
          {formatNumber(feeds.total)}
        </Figure>
        <Figure name="Failing" note={`of ${formatNumber(polled)} polled so far`}>
          {formatNumber(failing)}
        </Figure>
        <Figure name="Items" note="stored">
          {formatNumber(items)}
        </Figure>
        <Figure name="Mentions" note="in these items">
          {formatNumber(mentions)}
        </Figure>
        <Figure name="Domains" note="mentioned in 30 days">
          <Link to="/feeds" search={{ window: '30d' }} hash="leaders">
            {formatNumber(domains)}
          </Link>
        </Figure>
      </Figures>
      <h3 className="part-head">Mentions per day</h3>
      <MentionsChart label="Mentions of domains per day, last 30 days" days={stats.per_day} />
      <p className="small soft">
        {last_poll === null ? (
          'No feed has been polled yet.'
        ) : (
          <>
            Feeds were last polled <Ago at={last_poll} />.
          </>
        )}{' '}
        Days are in UTC; today is incomplete.
      </p>
    </>
  );
}
