// The feeds that name a domain. Titles are strangers' text.
import type { StackPaths } from '@strata/client';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';

type Feed = StackPaths['/stack/v1/feeds/domain/{domain}']['body']['feeds'][number];

export function NamingFeeds({ feeds }: { readonly feeds: readonly Feed[] }) {
  return (
    <DataTable
      caption="Feeds that name the domain"
      rows={feeds}
      keyOf={({ url }) => url}
      columns={[
        {
          name: 'Feed',
          cell: ({ title, site_url, url }) => (
            <>
              <OutsideLink href={site_url ?? url}>{title ?? 'No title'}</OutsideLink>
              <div className="small soft feeds-address">{url}</div>
            </>
          ),
          value: ({ title, url }) => title ?? url,
        },
        {
          name: 'Mentions',
          isNumber: true,
          cell: ({ mentions }) => formatNumber(mentions),
          value: ({ mentions }) => mentions,
        },
        {
          name: 'Latest item',
          cell: ({ latest: { title, url } }) => <OutsideLink href={url}>{title ?? 'No title'}</OutsideLink>,
        },
        {
          name: 'Last named',
          cell: ({ last_seen }) => <span className="small">{formatTime(last_seen)}</span>,
          value: ({ last_seen }) => last_seen,
        },
      ]}
    />
  );
}
