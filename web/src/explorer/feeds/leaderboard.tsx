// The domains that feeds mention most often.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Grade } from '../../ui/badge.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { DataTable } from '../../ui/table/data-table.tsx';

export const WINDOWS = [
  ['1d', 'Today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

export type Window = (typeof WINDOWS)[number][0];
type Leader = StackPaths['/stack/v1/feeds/leaderboard']['body']['domains'][number];

export function WindowLinks({ shown }: { readonly shown: string }) {
  return (
    <nav className="feeds-windows" aria-label="Period">
      {WINDOWS.map(([window, name]) => (
        <Link
          key={window}
          to="/feeds"
          search={window === '7d' ? {} : { window }}
          resetScroll={false}
          className={window === shown ? 'button small feeds-chosen' : 'button small'}
          aria-current={window === shown ? 'true' : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

export function Leaderboard({ leaders }: { readonly leaders: readonly Leader[] }) {
  return (
    <DataTable
      caption="Most mentioned domains"
      rows={leaders}
      keyOf={({ domain }) => domain}
      columns={[
        numberColumn<Leader>('Rank', ({ rank }) => rank),
        {
          name: 'Domain',
          cell: ({ domain }) => (
            <Link to="/feeds/$domain" params={{ domain }} className="strong">
              {domain}
            </Link>
          ),
          value: ({ domain }) => domain,
        },
        {
          name: 'Mentions',
          isNumber: true,
          cell: ({ domain, mentions }) => (
            <Link
              to="/feeds/$domain"
              params={{ domain }}
              preload={false}
              aria-label={`${mentions} mentions of ${domain}`}
            >
              {formatNumber(mentions)}
            </Link>
          ),
          value: ({ mentions }) => mentions,
        },
        { name: 'Change', cell: (leader) => <Movement leader={leader} />, value: ({ movement }) => movement },
        numberColumn<Leader>('Share', ({ share }) => share, formatShare),
        numberColumn<Leader>('Feeds', ({ feeds }) => feeds),
        { name: 'Security', cell: (leader) => <SecurityGrade leader={leader} />, value: ({ score }) => score },
      ]}
    />
  );
}

/** The change of rank since the preceding window of the same length. */
function Movement({ leader: { movement, previous_rank } }: { readonly leader: Leader }) {
  if (movement === null) return <span className="small soft">new</span>;
  const before = `was ${formatNumber(previous_rank)}`;
  if (movement === 0) return <span className="small soft">unchanged</span>;
  return (
    <span className={movement > 0 ? 'small feeds-up' : 'small feeds-down'} title={before}>
      <span aria-hidden="true">{movement > 0 ? '▲' : '▼'}</span>{' '}
      <span className="hidden-text">{movement > 0 ? 'up' : 'down'} </span>
      {formatNumber(Math.abs(movement))}
    </span>
  );
}

function SecurityGrade({ leader: { domain, grade, tracked } }: { readonly leader: Leader }) {
  if (!tracked) return <span className="small soft">not scanned yet</span>;
  return (
    <Link to="/domain/$domain" params={{ domain }}>
      <Grade grade={grade} />
      <span className="hidden-text"> for {domain}</span>
    </Link>
  );
}
