// The records of a domain, now or on a date, the domains that share them, and when they changed.
import type { StackPaths } from '@strata/client';
import { useNavigate } from '@tanstack/react-router';
import { Fragment } from 'react';
import { Day } from '../../ui/ago.tsx';
import { formatCount, formatNumber, formatTime } from '../../ui/formats.ts';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { CursorPager } from '../links/pager.tsx';
import { changed, type Search } from '../links/search-params.ts';
import { nameOfKind, PivotLink } from './record-links.tsx';
import { SharedGraph } from './shared-graph.tsx';
import type { Records } from './shared-values.ts';
import './records.css';

const PATH = '/stack/v1/domains/{domain}/records';
type History = StackPaths['/stack/v1/domains/{domain}/history']['body'];

/** Changes per page. */
const PAGE = 50;

const valueColumn: Column<{ readonly kind: string; readonly value: string }> = textColumn(
  'Value',
  'value',
  (value, { kind }) => <PivotLink kind={kind} value={value} />,
);

const COLUMNS: readonly Column<Records['records'][number]>[] = [
  textColumn('Kind', 'kind', nameOfKind),
  valueColumn,
  numberColumn('Other domains', 'other_domains', (count, { shared }) => `${formatNumber(count)}${shared ? '+' : ''}`),
  minor(textColumn('First observed', 'first_seen', (at) => <Day at={at} />)),
  minor(textColumn('Last observed', 'last_seen', (at) => <Day at={at} />)),
];

const CHANGES: readonly Column<History['changes'][number]>[] = [
  textColumn('Date', 'at', (at) => <Day at={at} />),
  textColumn('Change', 'type'),
  minor(textColumn('Kind', 'kind', nameOfKind)),
  valueColumn,
];

export function DomainRecords({ domain, search }: { readonly domain: string; readonly search: Search }) {
  const { at, cursor } = search;
  const navigate = useNavigate();
  return (
    <>
      <AnswerCard title="Shared values" path={PATH} input={{ path: { domain }, query: {} }}>
        {(body) => <SharedGraph {...body} />}
      </AnswerCard>
      <AnswerCard
        title="Records"
        path={PATH}
        input={{ path: { domain }, query: at === undefined ? {} : { at } }}
        keepsLast="any"
        actions={
          <label>
            On{' '}
            <input
              type="date"
              value={at ?? ''}
              onChange={({ target }) => void navigate(changed({ at: target.value }))}
            />
          </label>
        }
      >
        {({ records, observed_since, unmeasured }) => (
          <>
            <p className="small soft">
              {observed_since && (
                <>
                  Observed since <Day at={observed_since} />.{' '}
                </>
              )}
              {unmeasured.length > 0 && <>Not measured, so unknown: {unmeasured.map(nameOfKind).join(', ')}. </>}
              Each value links to the domains that share it; those of many domains are marked +.
            </p>
            <DataTable
              caption={`Records of ${domain}`}
              rows={records}
              keyOf={({ kind, value }) => `${kind} ${value}`}
              columns={COLUMNS}
              empty="No record was observed at this time."
            />
          </>
        )}
      </AnswerCard>
      <AnswerCard
        title="Changes of records"
        path="/stack/v1/domains/{domain}/history"
        input={{ path: { domain }, query: { limit: PAGE, cursor } }}
        keepsLast="page"
      >
        {({ changes, incomplete_scans, unmeasured, observed_since, total, offset, next_cursor }) => (
          <>
            <DataTable
              caption={`Changes of the records of ${domain}`}
              rows={changes}
              keyOf={({ at: time, type, kind, value }) => `${time} ${type} ${kind} ${value}`}
              columns={CHANGES}
              empty="No change since the first scan."
            />
            <CursorPager rows={{ offset, shown: changes.length, total }} next={next_cursor} />
            <Unmeasured kinds={unmeasured} since={observed_since} />
            <IncompleteScans scans={incomplete_scans} />
          </>
        )}
      </AnswerCard>
    </>
  );
}

/** Scans that failed, also in part: they end no value. */
function IncompleteScans({ scans }: { readonly scans: History['incomplete_scans'] }) {
  if (scans.length === 0) return null;
  return (
    <details className="small soft">
      <summary>{formatCount(scans.length, 'scan')} could not measure everything</summary>
      <ul>
        {scans.map(({ at, resolved, unmeasured }) => (
          <li key={at}>
            {formatTime(at)}: {resolved ? unmeasured.join(', ') : 'nothing answered'}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface UnmeasuredProps {
  readonly kinds: History['unmeasured'];
  readonly since: string | null;
}

/** Kinds that were first measured on a later day than the domain, or never. */
function Unmeasured({ kinds, since }: UnmeasuredProps) {
  const dayOf = (time: string | null) => time?.slice(0, 10);
  const late = kinds.filter(({ until }) => dayOf(until) !== dayOf(since));
  if (late.length === 0) return null;
  return (
    <p className="small soft">
      First measured later, so unknown before:{' '}
      {late.map(({ kind, until }, i) => (
        <Fragment key={kind}>
          {i > 0 && ', '}
          {nameOfKind(kind)} ({until === null ? 'not yet measured' : <Day at={until} />})
        </Fragment>
      ))}
      .
    </p>
  );
}
