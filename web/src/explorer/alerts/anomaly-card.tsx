// One anomaly opened: what stands out, how far, and the days around it.
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
import { bandOf, dayOf, daysOfChanges, daysOfCurve, seriesAnswer } from './anomaly-series.ts';
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
        <SubjectLink anomaly={anomaly} />, <strong>{name}</strong>: {meaning}. The day stands{' '}
        {formatDecimal(Math.abs(anomaly.sigma))} standard deviations {anomaly.direction === 'up' ? 'above' : 'below'}{' '}
        the mean of the {anomaly.window_days} days before it, {anomaly.samples} of which could be read.
      </p>
      <Figures>
        <Figure name="Value">{formatDecimal(anomaly.value)}</Figure>
        <Figure name="Mean before">{formatDecimal(anomaly.mean)}</Figure>
        <Figure name="Standard deviation" note="at least what chance alone gives">
          {formatDecimal(anomaly.stddev)}
        </Figure>
        <Figure name="Band of 3σ">
          {formatDecimal(low)} to {formatDecimal(high)}
        </Figure>
        <Figure name="By chance" note={chanceNote(anomaly.chance)}>
          {anomaly.chance === 0 ? 'about 0' : `1 in ${formatCompact(1 / anomaly.chance)}`}
        </Figure>
      </Figures>
      <Series anomaly={anomaly} />
    </Card>
  );
}

const chanceNote = (chance: number) =>
  chance === 0 ? 'too rare to be written' : 'how rare such a day is when nothing happens';

function Series({ anomaly }: { readonly anomaly: Anomaly }) {
  switch (seriesAnswer(anomaly)) {
    case 'adoption':
      return <ProviderSeries anomaly={anomaly} />;
    case 'changes':
      return <DomainSeries anomaly={anomaly} />;
    case null:
      return (
        <>
          <p className="small soft alerts-note">
            Drawn are the judged day and the band that it was judged by. The days before it are not part of any answer.
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
            Drawn is the provider's adoption curve, which counts the domains that are followed today, and the band that
            the day was judged by, when they may have been fewer. The marked day has the value that was judged.
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
            Drawn are the domain's confirmed changes by day, and the band that the day was judged by. The marked day has
            the value that was judged.
          </p>
          <AnomalyChart anomaly={anomaly} days={daysOfChanges(body.changes, anomaly)} />
          <Source path={path} input={input} answer={answer} />
        </>
      )}
    </Answer>
  );
}

/** Categories come as `dns`, providers and domains with their names. */
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
