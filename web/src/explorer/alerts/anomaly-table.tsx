// The anomaly table.
import type { Anomaly } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Severity } from '../../ui/badge.tsx';
import { formatDay, formatDecimal, formatName } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { withChanges } from '../search/search-params.ts';
import { SubjectLink, subjectName } from './anomaly-card.tsx';
import { dayOf } from './anomaly-series.ts';
import { METRICS, SEVERITIES } from './labels.ts';

interface AnomalyTableProps {
  readonly anomalies: readonly Anomaly[];
  /** The search parameters of the page, kept when an anomaly is opened. */
  readonly search: Readonly<Record<string, string>>;
}

export function AnomalyTable({ anomalies, search }: AnomalyTableProps) {
  const columns: readonly Column<Anomaly>[] = [
    { name: 'Day', cell: (row) => <time className="nowrap">{formatDay(dayOf(row))}</time>, value: dayOf },
    { name: 'Subject', cell: (row) => <SubjectLink anomaly={row} />, value: ({ subject }) => subject },
    {
      name: 'Metric',
      cell: (row) => <span title={METRICS[row.metric].meaning}>{formatName(METRICS[row.metric].name)}</span>,
      value: ({ metric }) => metric,
    },
    numberColumn('Value', ({ value }) => value, formatDecimal),
    numberColumn('Mean', ({ mean }) => mean, formatDecimal),
    {
      name: 'Sigma',
      isNumber: true,
      cell: ({ sigma }) => `${sigma > 0 ? '+' : '−'}${formatDecimal(Math.abs(sigma))}`,
      value: ({ sigma }) => Math.abs(sigma),
    },
    {
      name: 'Severity',
      cell: ({ severity }) => <Severity level={severity} />,
      value: ({ severity }) => SEVERITIES.indexOf(severity),
    },
    {
      name: 'Series',
      cell: (row) => (
        <Link to="/alerts" search={withChanges(search, { anomaly: row.id })}>
          View<span className="hidden-text"> the time series of {subjectName(row)}</span>
        </Link>
      ),
    },
  ];
  return <DataTable caption="Anomalies" columns={columns} rows={anomalies} keyOf={({ id }) => id} />;
}
