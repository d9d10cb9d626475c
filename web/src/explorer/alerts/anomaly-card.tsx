// One anomaly: its value, its deviation, and the days around it.
import type { Anomaly } from '@strata/client';
import type { ReactNode } from 'react';
import { Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatCompact, formatDay, formatDecimal, formatName } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { SubjectLink } from '../links/links.tsx';
import { AnomalyChart, bandOf, dayOf, daysOfChanges, daysOfCurve } from './anomaly-chart.tsx';
import { METRICS } from './labels.ts';

export function AnomalyCard({ anomaly, actions }: { readonly anomaly: Anomaly; readonly actions: ReactNode }) {
  const { low, high } = bandOf(anomaly);
  return (
    <Card
      title={`${subjectName(anomaly)}: ${anomaly.metric} on ${formatDay(dayOf(anomaly))}`}
      actions={
        <>
          <Severity level={anomaly.severity} />
          {actions}
        </>
      }
    >
      <p className="note">
        <SubjectLink kind={anomaly.subject_kind} id={anomaly.subject_id} text={anomaly.subject} />,{' '}
        <strong>{anomaly.metric}</strong>: {METRICS[anomaly.metric]}. The value is{' '}
        {formatDecimal(Math.abs(anomaly.sigma))} standard deviations {anomaly.direction === 'up' ? 'above' : 'below'}{' '}
        the mean of the preceding {anomaly.window_days} days ({anomaly.samples} with data).
      </p>
      <Figures>
        <Figure name="Value" value={formatDecimal(anomaly.value)} />
        <Figure name="Baseline mean" value={formatDecimal(anomaly.mean)} />
        <Figure
          name="Standard deviation"
          value={formatDecimal(anomaly.stddev)}
          note="at least the random variation of a count"
        />
        <Figure name="3σ band" value={`${formatDecimal(low)} to ${formatDecimal(high)}`} />
        <Figure
          name="Probability"
          value={anomaly.chance === 0 ? 'about 0' : `1 in ${formatCompact(1 / anomaly.chance)}`}
          note={anomaly.chance === 0 ? 'too small to display' : 'of a value at least this unusual'}
        />
      </Figures>
      <Series anomaly={anomaly} />
    </Card>
  );
}

/** The days around the anomaly, as far as the API provides them. */
function Series({ anomaly }: { readonly anomaly: Anomaly }) {
  if (anomaly.subject_kind === 'provider') return <ProviderSeries anomaly={anomaly} />;
  if (anomaly.subject_kind === 'domain' && anomaly.metric === 'changes') return <DomainSeries anomaly={anomaly} />;
  return (
    <>
      <p className="small soft note">
        The chart shows the anomalous day and its 3σ band. The API does not return the preceding days.
      </p>
      <AnomalyChart anomaly={anomaly} days={[]} />
    </>
  );
}

function ProviderSeries({ anomaly }: { readonly anomaly: Anomaly }) {
  const query = useStack('/stack/v1/intelligence/adoption/{tool}', { path: { tool: anomaly.subject_id } });
  return (
    <Answer query={query}>
      {(body, source) => (
        <>
          <p className="small soft note">
            The chart shows the adoption curve of the provider, which counts the domains tracked today, and the 3σ band
            of that day, when fewer domains may have been tracked. The marked day shows the evaluated value.
          </p>
          <AnomalyChart anomaly={anomaly} days={daysOfCurve(body.curve, anomaly.metric)} />
          {source}
        </>
      )}
    </Answer>
  );
}

function DomainSeries({ anomaly }: { readonly anomaly: Anomaly }) {
  const input = { path: { domain: anomaly.subject_id }, query: { limit: 200 } };
  return (
    <Answer query={useStack('/stack/v1/domains/{domain}/changes', input)}>
      {(body, source) => (
        <>
          <p className="small soft note">
            The chart shows the confirmed changes of the domain by day, and the 3σ band. The marked day shows the
            evaluated value.
          </p>
          <AnomalyChart anomaly={anomaly} days={daysOfChanges(body.changes, anomaly)} />
          {source}
        </>
      )}
    </Answer>
  );
}

/** Categories have identifiers such as `dns`; providers and domains have names. */
export function subjectName({ subject_kind: kind, subject }: Anomaly): string {
  return kind === 'category' ? formatName(subject) : subject;
}
