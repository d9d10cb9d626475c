// The feeds that mention a domain. Titles are untrusted text.
import './feeds.css';
import type { StackPaths } from '@strata/client';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatTime } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { DataTable } from '../../ui/table/data-table.tsx';

type Feed = StackPaths['/stack/v1/feeds/domain/{domain}']['body']['feeds'][number];

export function MentioningFeeds({ feeds }: { readonly feeds: readonly Feed[] }) {
  return (
    <DataTable
      caption="Feeds that mention the domain"
      rows={feeds}
      keyOf={({ url }) => url}
      columns={[
        {
          name: 'Feed',
          cell: ({ title, site_url, url }) => (
            <>
              <ExternalLink href={site_url ?? url}>{title ?? 'Untitled'}</ExternalLink>
              <div className="small soft feeds-address">{url}</div>
            </>
          ),
          value: ({ title, url }) => title ?? url,
        },
        numberColumn<Feed>('Mentions', ({ mentions }) => mentions),
        {
          name: 'Latest item',
          cell: ({ latest: { title, url } }) => <ExternalLink href={url}>{title ?? 'Untitled'}</ExternalLink>,
        },
        {
          name: 'Last mention',
          cell: ({ last_seen }) => <span className="small">{formatTime(last_seen)}</span>,
          value: ({ last_seen }) => last_seen,
        },
      ]}
    />
  );
}
