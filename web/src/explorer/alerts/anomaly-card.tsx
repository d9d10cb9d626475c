// One anomaly: its value, its deviation, and the days around it.
import type { Anomaly } from '@strata/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatCompact, formatDay, formatDecimal, formatName } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { AnomalyChart } from './anomaly-chart.tsx';
import { bandOf, dayOf, daysOfChanges, daysOfCurve, seriesSource } from './anomaly-series.ts';
import { METRICS } from './labels.ts';

export function AnomalyCard({ anomaly, actions }: { readonly anomaly: Anomaly; readonly actions: ReactNode }) {
  const { low, high } = bandOf(anomaly);
  const { name, meaning } = METRICS[anomaly.metric];
  return (
    <Card
      title={`${subjectName(anomaly)}: ${name} on ${formatDay(dayOf(anomaly))}`}
      actions={
        <>
          <Severity level={anomaly.severity} />
          {actions}
        </>
      }
    >
      <p className="alerts-note">
        <SubjectLink anomaly={anomaly} />, <strong>{name}</strong>: {meaning}. The value is{' '}
        {formatDecimal(Math.abs(anomaly.sigma))} standard deviations {anomaly.direction === 'up' ? 'above' : 'below'}{' '}
        the mean of the preceding {anomaly.window_days} days ({anomaly.samples} with data).
      </p>
      <Figures>
        <Figure name="Value">{formatDecimal(anomaly.value)}</Figure>
        <Figure name="Baseline mean">{formatDecimal(anomaly.mean)}</Figure>
        <Figure name="Standard deviation" note="at least the random variation of a count">
          {formatDecimal(anomaly.stddev)}
        </Figure>
        <Figure name="3σ band">
          {formatDecimal(low)} to {formatDecimal(high)}
        </Figure>
        <Figure name="Probability" note={chanceNote(anomaly.chance)}>
          {anomaly.chance === 0 ? 'about 0' : `1 in ${formatCompact(1 / anomaly.chance)}`}
        </Figure>
      </Figures>
      <Series anomaly={anomaly} />
    </Card>
  );
}

const chanceNote = (chance: number) => (chance === 0 ? 'too small to display' : 'of a value at least this unusual');

function Series({ anomaly }: { readonly anomaly: Anomaly }) {
  switch (seriesSource(anomaly)) {
    case 'adoption':
      return <ProviderSeries anomaly={anomaly} />;
    case 'changes':
      return <DomainSeries anomaly={anomaly} />;
    case null:
      return (
        <>
          <p className="small soft alerts-note">
            The chart shows the anomalous day and its 3σ band. The API does not return the preceding days.
          </p>
          <AnomalyChart anomaly={anomaly} days={[]} />
        </>
      );
  }
}

function ProviderSeries({ anomaly }: { readonly anomaly: Anomaly }) {
  const path = '/stack/v1/intelligence/adoption/{tool}';
  const input = { path: { tool: anomaly.subject_id } };
  return (
    <Answer query={useStack(path, input)} lines={8}>
      {(body, answer) => (
        <>
          <p className="small soft alerts-note">
            The chart shows the adoption curve of the provider, which counts the domains tracked today, and the 3σ band
            of that day, when fewer domains may have been tracked. The marked day shows the evaluated value.
          </p>
          <AnomalyChart anomaly={anomaly} days={daysOfCurve(body.curve, anomaly.metric)} />
          <Source path={path} input={input} answer={answer} />
        </>
      )}
    </Answer>
  );
}

function DomainSeries({ anomaly }: { readonly anomaly: Anomaly }) {
  const path = '/stack/v1/domains/{domain}/changes';
  const input = { path: { domain: anomaly.subject_id }, query: { limit: 200 } };
  return (
    <Answer query={useStack(path, input)} lines={8}>
      {(body, answer) => (
        <>
          <p className="small soft alerts-note">
            The chart shows the confirmed changes of the domain by day, and the 3σ band. The marked day shows the
            evaluated value.
          </p>
          <AnomalyChart anomaly={anomaly} days={daysOfChanges(body.changes, anomaly)} />
          <Source path={path} input={input} answer={answer} />
        </>
      )}
    </Answer>
  );
}

/** Categories have identifiers such as `dns`; providers and domains have names. */
export function subjectName({ subject_kind: kind, subject }: Anomaly): string {
  return kind === 'category' ? formatName(subject) : subject;
}

export function SubjectLink({ anomaly }: { readonly anomaly: Anomaly }) {
  const { subject_kind: kind, subject_id: id } = anomaly;
  switch (kind) {
    case 'provider':
      return (
        <Link to="/provider/$provider" params={{ provider: id }}>
          {anomaly.subject}
        </Link>
      );
    case 'domain':
      return (
        <Link to="/domain/$domain" params={{ domain: id }}>
          {anomaly.subject}
        </Link>
      );
    case 'category':
      return (
        <Link to="/market" search={{ category: id }}>
          {subjectName(anomaly)}
        </Link>
      );
    default:
      return kind satisfies never;
  }
}
