// The mentions of domains: a bar chart of their number per day, and the feeds that mention a domain.
import type { MentionDay, NamingFeed, StackPaths } from '@strata/client';
import { Chart } from '../../ui/chart/chart.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatDay, formatNumber, formatTime } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';

const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DAY_COLUMNS: readonly Column<MentionDay>[] = [
  textColumn('Day (UTC)', 'date', formatDay),
  numberColumn('Mentions', 'mentions'),
];

/** Days are in UTC; the last one is incomplete. */
export function MentionsChart({ label, days }: { readonly label: string; readonly days: readonly MentionDay[] }) {
  return (
    <Chart
      label={label}
      data={days}
      draw={barsOf}
      height={240}
      table={<DataTable caption={label} rows={days.toReversed()} keyOf={({ date }) => date} columns={DAY_COLUMNS} />}
    />
  );
}

const barsOf = (days: readonly MentionDay[]) => ({
  tooltip: { trigger: 'axis' },
  xAxis: {
    type: 'category',
    name: 'Day (UTC)',
    data: days.map(({ date }) => short.format(new Date(date))),
  },
  yAxis: { type: 'value', name: 'Mentions', minInterval: 1 },
  series: [{ name: 'Mentions', type: 'bar', data: days.map(({ mentions }) => mentions), barCategoryGap: '25%' }],
});

/** Titles are untrusted text. */
const FEED_COLUMNS: readonly Column<NamingFeed>[] = [
  {
    name: 'Feed',
    cell: ({ title, site_url, url }) => (
      <>
        <ExternalLink href={site_url ?? url}>{title ?? 'Untitled'}</ExternalLink>
        <div className="small soft narrow">{url}</div>
      </>
    ),
    value: ({ title, url }) => title ?? url,
  },
  numberColumn('Mentions', 'mentions'),
  {
    name: 'Latest item',
    isMinor: true,
    cell: ({ latest: { title, url } }) => <ExternalLink href={url}>{title ?? 'Untitled'}</ExternalLink>,
  },
  textColumn('Last mention', 'last_seen', (last_seen) => <span className="small">{formatTime(last_seen)}</span>),
];

type Body = Pick<StackPaths['/stack/v1/feeds/domain/{domain}']['body'], 'feeds' | 'total'>;

/** The feeds that mention a domain. */
export function MentioningFeeds({ body: { feeds, total } }: { readonly body: Body }) {
  return (
    <>
      {total > feeds.length && (
        <p className="small soft">
          Showing the {formatNumber(feeds.length)} of {formatNumber(total)} feeds with the most mentions.
        </p>
      )}
      <DataTable
        caption="Feeds that mention the domain"
        rows={feeds}
        keyOf={({ url }) => url}
        columns={FEED_COLUMNS}
        empty="No polled feed has mentioned it."
      />
    </>
  );
}
