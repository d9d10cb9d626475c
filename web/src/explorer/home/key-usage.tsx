// Requests of the current key in the last 30 days, by path and source. Asked only on demand: it uses a request itself.
import type { StackPaths } from '@strata/client';
import { useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';

type Usage = StackPaths['/stack/v1/usage']['body'];
type PathUsage = Usage['days'][number]['paths'][number];

const DAY_COLUMNS: readonly Column<Usage['days'][number]>[] = [
  { name: 'Day (UTC)', cell: ({ date }) => <span className="nowrap">{date}</span> },
  numberColumn('Requests', 'requests'),
  numberColumn('Of the quota', 'counted'),
];

const PATH_COLUMNS: readonly Column<PathUsage>[] = [
  {
    name: 'Path',
    cell: ({ path, source }) => (
      <>
        <code>{path}</code> <span className="small soft">{source === 'page' ? 'these pages' : 'API'}</span>
      </>
    ),
    value: ({ path }) => path,
  },
  numberColumn('Requests', 'requests'),
  { ...numberColumn('Of the quota', 'counted'), isMinor: true },
];

export function KeyUsage() {
  const [isShown, setShown] = useState(false);
  if (!isShown)
    return (
      <p>
        <Button kind="small" onClick={() => setShown(true)}>
          Show usage
        </Button>{' '}
        <span className="small soft">Uses one request.</span>
      </p>
    );
  return (
    <AnswerCard title="Last 30 days" path="/stack/v1/usage" input={{}}>
      {({ days }) => <Days days={days} />}
    </AnswerCard>
  );
}

function Days({ days }: Pick<Usage, 'days'>) {
  const paths = byPath(days.flatMap((day) => day.paths));
  const total = paths.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <>
      <p>{formatNumber(total)} requests in total.</p>
      <DataTable caption="Requests by path" rows={paths} keyOf={keyOf} columns={PATH_COLUMNS} />
      <DataTable caption="Requests by day" rows={days} keyOf={({ date }) => date} columns={DAY_COLUMNS} />
    </>
  );
}

const keyOf = ({ path, source }: PathUsage) => `${source} ${path}`;

/** The most requested first. */
function byPath(rows: readonly PathUsage[]): PathUsage[] {
  const sums = [...Map.groupBy(rows, keyOf).values()].map((of) => ({
    path: of[0]?.path ?? '',
    source: of[0]?.source ?? 'api',
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
    counted: of.reduce((sum, { counted }) => sum + counted, 0),
  }));
  return sums.toSorted((a, b) => b.requests - a.requests);
}
