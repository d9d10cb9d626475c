// The domains that feeds mention most often.
import type { FeedLeader } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Grade } from '../../ui/badge.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { DomainLink } from '../links/links.tsx';

/** The periods for which mentions are counted. */
export const WINDOWS = [
  ['1d', 'Today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

export type Window = (typeof WINDOWS)[number][0];

export const windowName = (window: string): string => WINDOWS.find(([id]) => id === window)?.[1] ?? window;

const COLUMNS: readonly Column<FeedLeader>[] = [
  minor(numberColumn('Rank', 'rank')),
  textColumn('Domain', 'domain', (domain) => (
    <Link to="/feeds/$domain" params={{ domain }} className="strong">
      {domain}
    </Link>
  )),
  numberColumn('Mentions', 'mentions', (mentions, { domain }) => (
    <Link to="/feeds/$domain" params={{ domain }} preload={false} aria-label={`${mentions} mentions of ${domain}`}>
      {formatNumber(mentions)}
    </Link>
  )),
  { name: 'Change', cell: (leader) => <Movement leader={leader} />, value: ({ movement }) => movement },
  minor(numberColumn('Share', 'share', formatShare)),
  minor(numberColumn('Feeds', 'feeds')),
  { name: 'Security', cell: (leader) => <SecurityGrade leader={leader} />, value: ({ score }) => score },
];

export function Leaderboard({ leaders }: { readonly leaders: readonly FeedLeader[] }) {
  return <DataTable caption="Most mentioned domains" rows={leaders} keyOf={({ domain }) => domain} columns={COLUMNS} />;
}

/** The change of rank since the preceding window of the same length. */
function Movement({ leader: { movement, previous_rank } }: { readonly leader: FeedLeader }) {
  if (!movement) return <span className="small soft">{movement === null ? 'new' : 'unchanged'}</span>;
  const [direction, sign, tone] = movement > 0 ? ['up', '▲', 'good'] : ['down', '▼', 'bad'];
  return (
    <span className={`small nowrap text-${tone}`} title={`was ${formatNumber(previous_rank)}`}>
      <span aria-hidden="true">{sign}</span> <span className="hidden-text">{direction} </span>
      {formatNumber(Math.abs(movement))}
    </span>
  );
}

function SecurityGrade({ leader: { domain, grade, tracked } }: { readonly leader: FeedLeader }) {
  if (!tracked) return <span className="small soft">not scanned yet</span>;
  return (
    <DomainLink domain={domain}>
      <Grade grade={grade} />
      <span className="hidden-text"> for {domain}</span>
    </DomainLink>
  );
}
