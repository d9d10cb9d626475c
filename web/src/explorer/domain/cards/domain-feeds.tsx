// Who writes about a domain: how often it is named, and by which feeds.
import type { StackPaths } from '@strata/client';
import { useMemo } from 'react';
import { Ago } from '../../../ui/ago.tsx';
import { Card, Figure, Figures } from '../../../ui/card/card.tsx';
import { Chart } from '../../../ui/chart/chart.tsx';
import { formatChange, formatDay, formatNumber } from '../../../ui/formats.ts';
import { OutsideLink } from '../../../ui/outside-link.tsx';
import { Empty } from '../../../ui/states.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { Answer } from '../../answer/answer.tsx';
import { Source } from '../../answer/source.tsx';
import { useStack } from '../../answer/use-stack.ts';
import { WINDOWS } from '../../feeds/leaderboard.tsx';

type Mentions = StackPaths['/stack/v1/feeds/domain/{domain}']['body'];

export function DomainFeeds({ domain }: { readonly domain: string }) {
  const input = { path: { domain } };
  const query = useStack('/stack/v1/feeds/domain/{domain}', input);
  return (
    <Card
      title="Feeds that name it"
      foot={query.data && <Source path="/stack/v1/feeds/domain/{domain}" input={input} answer={query.data} />}
    >
      <Answer query={query} lines={8}>
        {(body) => (body.mentions === 0 ? <Empty>No feed names this domain.</Empty> : <Naming body={body} />)}
      </Answer>
    </Card>
  );
}

function Naming({ body }: { readonly body: Mentions }) {
  return (
    <>
      <Figures>
        {body.windows.map(({ window, mentions, feeds, change }) => (
          <Figure
            key={window}
            name={WINDOWS.find(([id]) => id === window)?.[1] ?? window}
            note={`by ${formatNumber(feeds)} ${feeds === 1 ? 'feed' : 'feeds'}, change ${formatChange(change)}`}
          >
            {formatNumber(mentions)}
          </Figure>
        ))}
        <Figure name="Ever" note={body.first_seen ? `since ${formatDay(body.first_seen)}` : undefined}>
          {formatNumber(body.mentions)}
        </Figure>
      </Figures>
      <PerDay days={body.per_day} domain={body.domain} />
      <DataTable
        caption={`Feeds that name ${body.domain}`}
        rows={body.feeds}
        keyOf={({ url }) => url}
        columns={[
          {
            name: 'Feed',
            value: ({ title, url }) => title ?? url,
            cell: ({ title, url, site_url }) => <OutsideLink href={site_url ?? url}>{title ?? url}</OutsideLink>,
          },
          {
            name: 'Latest item',
            cell: ({ latest }) => <OutsideLink href={latest.url}>{latest.title ?? latest.url ?? '–'}</OutsideLink>,
          },
          {
            name: 'Mentions',
            isNumber: true,
            value: (feed) => feed.mentions,
            cell: (feed) => formatNumber(feed.mentions),
          },
          {
            name: 'Last',
            value: (feed) => feed.last_seen,
            cell: (feed) => <Ago at={feed.last_seen} className="domain-nowrap" />,
          },
        ]}
      />
      {body.total > body.feeds.length && (
        <p className="small soft">
          The {formatNumber(body.feeds.length)} that name it most often, of {formatNumber(body.total)}.
        </p>
      )}
    </>
  );
}

function PerDay({ days, domain }: { readonly days: Mentions['per_day']; readonly domain: string }) {
  const option = useMemo(
    () => ({
      grid: { left: 8, right: 8, top: 12, bottom: 4, containLabel: true },
      tooltip: { trigger: 'axis' },
      xAxis: { type: 'category', data: days.map(({ date }) => formatDay(date)) },
      yAxis: { type: 'value', minInterval: 1 },
      series: [{ type: 'bar', name: 'Mentions', data: days.map(({ mentions }) => mentions) }],
    }),
    [days],
  );
  return (
    <Chart
      label={`Mentions of ${domain} by day, the last 30 days`}
      option={option}
      height={180}
      table={
        <DataTable
          caption={`Mentions of ${domain} by day`}
          rows={days}
          keyOf={({ date }) => date}
          columns={[
            { name: 'Day', value: ({ date }) => date, cell: ({ date }) => formatDay(date) },
            { name: 'Mentions', isNumber: true, value: (d) => d.mentions, cell: (d) => formatNumber(d.mentions) },
          ]}
        />
      }
    />
  );
}
