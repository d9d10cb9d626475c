// What all feeds together say.
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
        <Figure name="Feeds" note={`${formatNumber(feeds.active)} active, ${formatNumber(feeds.gone)} gone`}>
          {formatNumber(feeds.total)}
        </Figure>
        <Figure name="Failing" note={`of ${formatNumber(polled)} asked so far`}>
          {formatNumber(failing)}
        </Figure>
        <Figure name="Items" note="that are kept">
          {formatNumber(items)}
        </Figure>
        <Figure name="Mentions" note="in these items">
          {formatNumber(mentions)}
        </Figure>
        <Figure name="Domains" note="named in 30 days">
          <Link to="/feeds" search={{ window: '30d' }} hash="leaders">
            {formatNumber(domains)}
          </Link>
        </Figure>
      </Figures>
      <h3 className="feeds-part">Mentions a day</h3>
      <MentionsChart label="Mentions of domains on each of the last 30 days" days={stats.per_day} />
      <p className="small soft">
        {last_poll === null ? (
          'No feed was asked yet.'
        ) : (
          <>
            Feeds were last asked <Ago at={last_poll} />.
          </>
        )}{' '}
        Days are UTC, and today is not over.
      </p>
    </>
  );
}
