// The alerts page: alerts of all kinds, and anomalies.
import './alerts.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { Choice } from '../../ui/choice.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { oneOf, withChanges } from '../search/search-params.ts';
import { AlertList } from './alert-list.tsx';
import { AnomalyCard } from './anomaly-card.tsx';
import { AnomalyTable } from './anomaly-table.tsx';
import { KIND_NAMES, KINDS, SEVERITIES } from './labels.ts';

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
  const navigate = route.useNavigate();
  const kind = oneOf(search.kind, KINDS);
  const severity = oneOf(search.severity, SEVERITIES);
  const path = '/stack/v1/alerts';
  const input = { query: { limit: 200 } };
  const query = useStack(path, input);
  const change = (changes: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: withChanges(search, changes), resetScroll: false });
  return (
    <Card
      title="Latest alerts"
      actions={
        <>
          <Choice
            label="Kind"
            value={kind}
            values={KINDS}
            nameOf={(value) => KIND_NAMES[value]}
            onChange={(value) => change({ kind: value })}
          />
          <Choice
            label="Severity"
            value={severity}
            values={SEVERITIES}
            nameOf={formatName}
            onChange={(value) => change({ severity: value })}
          />
        </>
      }
      foot={query.data && <Source path={path} input={input} answer={query.data} />}
    >
      <Answer query={query} lines={10}>
        {({ alerts, total }) => {
          const shown = alerts.filter(
            (alert) =>
              (kind === undefined || alert.kind === kind) && (severity === undefined || alert.severity === severity),
          );
          return (
            <>
              <p className="small soft alerts-note" role="status">
                {formatNumber(shown.length)} of {formatNumber(total)} alerts
                {alerts.length < total && `, filtered from the newest ${formatNumber(alerts.length)}`}
              </p>
              {shown.length === 0 ? (
                <Empty>{total === 0 ? 'No alerts yet.' : 'No alerts of this kind and severity.'}</Empty>
              ) : (
                <AlertList alerts={shown} />
              )}
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

const ANOMALIES = '/stack/v1/anomalies';
const ALL_ANOMALIES = { query: { limit: 200 } };

function OpenedAnomaly() {
  const search = route.useSearch();
  const { anomaly: anomalyId } = search;
  const query = useStack(ANOMALIES, ALL_ANOMALIES);
  if (anomalyId === undefined) return null;
  const close = (
    <Link
      to="/alerts"
      search={withChanges(search, { anomaly: undefined })}
      resetScroll={false}
      className="button small"
    >
      Close
    </Link>
  );
  return (
    <Answer query={query} lines={10}>
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

function Anomalies() {
  const search = route.useSearch();
  const query = useStack(ANOMALIES, ALL_ANOMALIES);
  return (
    <Card title="Anomalies" foot={query.data && <Source path={ANOMALIES} input={ALL_ANOMALIES} answer={query.data} />}>
      <p className="soft small alerts-note">
        Days that deviate by at least three standard deviations and five counts from the mean of the preceding 28 days,
        and are unlikely to occur by chance among all series of that day.
      </p>
      <Answer query={query} lines={6}>
        {({ anomalies, total }) =>
          anomalies.length === 0 ? (
            <Empty>No anomalies. A series is evaluated when at least 14 of the preceding 28 days have data.</Empty>
          ) : (
            <>
              {anomalies.length < total && (
                <p className="small soft">
                  Showing the newest {formatNumber(anomalies.length)} of {formatNumber(total)}
                </p>
              )}
              <AnomalyTable anomalies={anomalies} search={search} />
            </>
          )
        }
      </Answer>
    </Card>
  );
}
