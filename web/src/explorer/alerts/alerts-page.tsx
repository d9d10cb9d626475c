// The alerts page: alerts of all kinds, and anomalies.
import './alerts.css';
import type { Anomaly } from '@strata/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Severity } from '../../ui/badge.tsx';
import { formatDay, formatDecimal, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer, AnswerCard } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { labelled } from '../links/categories.ts';
import { SubjectLink } from '../links/links.tsx';
import { Parameter } from '../links/parameter.tsx';
import { changed, oneOf } from '../links/search-params.ts';
import { AlertList } from './alert-list.tsx';
import { AnomalyCard, subjectName } from './anomaly-card.tsx';
import { dayOf } from './anomaly-chart.tsx';
import { KIND_NAMES, KINDS, METRICS, SEVERITIES } from './labels.ts';

const route = getRouteApi('/alerts');

export function Alerts() {
  return (
    <Page
      title="Alerts"
      lead="Exploited vulnerabilities in software that domains use, mass migrations, statistical anomalies, and security regressions."
    >
      <OpenedAnomaly />
      <AlertsCard />
      <Anomalies />
    </Page>
  );
}

/** The API cannot filter alerts: all are requested and filtered here. */
function AlertsCard() {
  const search = route.useSearch();
  const kind = oneOf(search.kind, KINDS);
  const severity = oneOf(search.severity, SEVERITIES);
  return (
    <AnswerCard
      title="Latest alerts"
      path="/stack/v1/alerts"
      input={{ query: { limit: 200 } }}
      actions={
        <>
          <Parameter label="Kind" name="kind" options={Object.entries(KIND_NAMES)} />
          <Parameter label="Severity" name="severity" options={labelled(SEVERITIES)} />
        </>
      }
    >
      {({ alerts, total }) => {
        const shown = alerts.filter(
          (alert) =>
            (kind === undefined || alert.kind === kind) && (severity === undefined || alert.severity === severity),
        );
        return (
          <>
            <p className="small soft note" role="status">
              {formatNumber(shown.length)} of {formatNumber(total)} alerts
              {alerts.length < total && `, filtered from the newest ${formatNumber(alerts.length)}`}
            </p>
            {shown.length === 0 && (
              <Empty>{total === 0 ? 'No alerts yet.' : 'No alerts of this kind and severity.'}</Empty>
            )}
            <AlertList alerts={shown} />
          </>
        );
      }}
    </AnswerCard>
  );
}

const ANOMALIES = '/stack/v1/anomalies';
const ALL_ANOMALIES = { query: { limit: 200 } };

function OpenedAnomaly() {
  const { anomaly: anomalyId } = route.useSearch();
  const query = useStack(ANOMALIES, ALL_ANOMALIES);
  if (anomalyId === undefined) return null;
  const close = (
    <Link {...changed({ anomaly: undefined })} className="button small">
      Close
    </Link>
  );
  return (
    <Answer query={query}>
      {({ anomalies }) => {
        const anomaly = anomalies.find(({ id }) => id === anomalyId);
        return anomaly ? (
          <AnomalyCard anomaly={anomaly} actions={close} />
        ) : (
          <Notice title="Anomaly not found" actions={close}>
            <p>It may be older than the anomalies listed here.</p>
          </Notice>
        );
      }}
    </Answer>
  );
}

const COLUMNS: readonly Column<Anomaly>[] = [
  { name: 'Day', cell: (row) => <time>{formatDay(dayOf(row))}</time>, value: dayOf },
  {
    name: 'Subject',
    cell: (row) => <SubjectLink kind={row.subject_kind} id={row.subject_id} text={row.subject} />,
    value: ({ subject }) => subject,
  },
  textColumn('Metric', 'metric', (metric) => <span title={METRICS[metric]}>{formatName(metric)}</span>),
  numberColumn('Value', 'value', formatDecimal),
  minor(numberColumn('Mean', 'mean', formatDecimal)),
  minor(
    numberColumn(
      'Sigma',
      ({ sigma }) => Math.abs(sigma),
      (size, { sigma }) => `${sigma > 0 ? '+' : '−'}${formatDecimal(size)}`,
    ),
  ),
  {
    name: 'Severity',
    isMinor: true,
    cell: ({ severity }) => <Severity level={severity} />,
    value: ({ severity }) => SEVERITIES.indexOf(severity),
  },
  {
    name: 'Series',
    cell: (row) => (
      <Link {...changed({ anomaly: row.id })} resetScroll>
        View<span className="hidden-text"> the time series of {subjectName(row)}</span>
      </Link>
    ),
  },
];

function Anomalies() {
  return (
    <AnswerCard title="Anomalies" path={ANOMALIES} input={ALL_ANOMALIES}>
      {({ anomalies, total }) => (
        <>
          <p className="soft small note">
            Days that deviate by at least three standard deviations and five counts from the mean of the preceding 28
            days, and are unlikely to occur by chance among all series of that day.
          </p>
          {anomalies.length < total && (
            <p className="small soft">
              Showing the newest {formatNumber(anomalies.length)} of {formatNumber(total)}
            </p>
          )}
          <DataTable
            caption="Anomalies"
            columns={COLUMNS}
            rows={anomalies}
            keyOf={({ id }) => id}
            empty="No anomalies. A series is evaluated when at least 14 of the preceding 28 days have data."
          />
        </>
      )}
    </AnswerCard>
  );
}
