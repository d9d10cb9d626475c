// The event list of the live page, newest first: each event as a sentence, with its receipt.
import type { StackEvent } from '@strata/client';
import { type ComponentProps, Fragment, memo } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { LazyDetails } from '../../ui/controls/lazy-details.tsx';
import {
  formatAgo,
  formatClock,
  formatDecimal,
  formatName,
  formatNumber,
  formatTime,
  nameInText,
} from '../../ui/formats.ts';
import { Verify } from '../answer/source.tsx';
import { SubjectLink } from '../links/links.tsx';
import type { Entry } from './entries.ts';

const KINDS: Readonly<Record<StackEvent['type'], { readonly name: string; readonly tone: Tone }>> = {
  migration: { name: 'migration', tone: 'accent' },
  service_change: { name: 'change', tone: 'plain' },
  anomaly: { name: 'anomaly', tone: 'warn' },
  advisory: { name: 'advisory', tone: 'bad' },
};

/** Events published later than this after their confirmation show the time of confirmation. */
const LATE_MS = 6 * 3_600_000;

export function EventList({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <ol className="lines">
      {entries.map((entry) => (
        <EntryRow key={entry.id} entry={entry} />
      ))}
    </ol>
  );
}

const EntryRow = memo(function EntryRow({ entry }: { readonly entry: Entry }) {
  if (entry.kind === 'gap') return <li className="live-gap">Some events are missing: {entry.reason}.</li>;
  const { event, isNew } = entry;
  const { name, tone } = KINDS[event.type];
  const isLate = Date.parse(event.published_at) - Date.parse(event.at) > LATE_MS;
  return (
    <li className={isNew ? 'live-event new' : 'live-event'}>
      <time className="small soft" dateTime={event.published_at} title={formatTime(event.published_at)}>
        {formatClock(event.published_at)}
      </time>
      <Badge tone={tone}>{name}</Badge>
      <div>
        <p>
          <EventSentence event={event} />
          {isNew && <span className="hidden-text"> (new)</span>}
        </p>
        <p className="small soft">
          {detailOf(event)}
          {isLate && ` · confirmed ${formatAgo(event.at, Date.parse(event.published_at)).replace(' ago', ' before')}`}
        </p>
      </div>
      {/* Each event is signed individually and can be verified without the answer that contained it. */}
      <LazyDetails
        className="live-receipt"
        summary={
          <>
            Receipt<span className="hidden-text"> of event {event.id}</span>
          </>
        }
      >
        <Verify answer={JSON.stringify(event)} receiptId={event.provenance.receipt_id} />
      </LazyDetails>
    </li>
  );
});

const affectedOf = ({ version, product }: { readonly version: number; readonly product: number }): string =>
  version > 0 ? `${version} with an affected version` : `${product} with the product, version unknown`;

function detailOf(event: StackEvent): string {
  switch (event.type) {
    case 'migration':
    case 'service_change':
      return `${event.change.confidence} confidence · ${event.change.importance} importance`;
    case 'anomaly':
      return `${event.anomaly.severity} severity · compared with ${event.anomaly.window_days} days`;
    case 'advisory': {
      const [first] = event.advisories;
      if (!first) return '';
      const { title, severity, domains } = first;
      return [title, severity && `${severity} severity`, domains && `domains: ${affectedOf(domains)}`]
        .filter(Boolean)
        .join(' · ');
    }
    default:
      return event satisfies never;
  }
}

type TextPart = string | ComponentProps<typeof SubjectLink>;

/** Number of advisories of an event that are named; the rest are counted. */
const MAX_NAMED = 3;

/** An event as a sentence with links. */
function EventSentence({ event }: { readonly event: StackEvent }) {
  return partsOf(event).map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an event never change
    <Fragment key={i}>{typeof part === 'string' ? part : <SubjectLink {...part} />}</Fragment>
  ));
}

/** An event as plain text, for screen reader announcements. */
export function eventText(event: StackEvent): string {
  return partsOf(event)
    .map((part) => (typeof part === 'string' ? part : part.text))
    .join('');
}

function partsOf(event: StackEvent): readonly TextPart[] {
  switch (event.type) {
    case 'migration':
    case 'service_change':
      return changeParts(event);
    case 'anomaly':
      return anomalyParts(event);
    case 'advisory':
      return advisoryParts(event);
    default:
      return event satisfies never;
  }
}

function changeParts({ domain, change }: StackEvent & { readonly type: 'migration' | 'service_change' }): TextPart[] {
  const subject: TextPart = { kind: 'domain', id: domain, text: domain };
  const provider = (id: string | null, name: string | null): TextPart =>
    id === null ? (name ?? 'an unknown provider') : { kind: 'provider', id, text: name ?? id };
  const from = provider(change.from_id, change.from);
  const to = provider(change.to_id, change.to);
  const category: TextPart = { kind: 'category', id: change.category, text: formatName(change.category) };
  switch (change.type) {
    case 'migrated':
      return [subject, ` migrated its ${nameInText(change.role)} from `, from, ' to ', to];
    case 'added':
      return [subject, ' started using ', to, ' (', category, ')'];
    case 'removed':
      return [subject, ' stopped using ', from, ' (', category, ')'];
    case 'reclassified':
      return [subject, ': ', from, ' was reclassified as ', to, ' (', category, ')'];
    default:
      return change.type satisfies never;
  }
}

function anomalyParts({ anomaly }: StackEvent & { readonly type: 'anomaly' }): TextPart[] {
  const { subject, subject_id, subject_kind, metric, value, mean, sigma, direction } = anomaly;
  return [
    { kind: subject_kind, id: subject_id, text: subject },
    ' has ',
    { kind: 'alerts', id: '', text: `unusually ${direction === 'up' ? 'many' : 'few'} ${metric}` },
    `: ${formatNumber(value)}, usually ${formatDecimal(mean)} (${formatDecimal(Math.abs(sigma))} σ)`,
  ];
}

function advisoryParts({ domain, reason, advisories }: StackEvent & { readonly type: 'advisory' }): TextPart[] {
  const names = advisories
    .slice(0, MAX_NAMED)
    .flatMap(({ id }, i): TextPart[] => [...(i === 0 ? [] : [', ']), { kind: 'advisory', id, text: id }]);
  const more = advisories.length - MAX_NAMED;
  if (more > 0) names.push(` and ${formatNumber(more)} more`);
  const products = new Map(advisories.flatMap((entry) => entry.products).map((one) => [one.product_id, one.product]));
  const of = [...products].flatMap(([id, text], i): TextPart[] => [
    i === 0 ? ' in ' : ', ',
    { kind: 'provider', id, text },
  ]);
  const subject: TextPart[] = domain === undefined ? [] : [{ kind: 'domain', id: domain, text: domain }];
  const verb = advisories.length === 1 ? 'was' : 'were';
  switch (reason) {
    case 'published':
      return [...names, ...of, ` ${verb} published`];
    case 'exploited':
      return [...names, ...of, ` ${verb} added to the known exploited vulnerabilities`];
    case 'exposed':
      return [...subject, ' runs versions affected by ', ...names, ...of];
    default:
      return reason satisfies never;
  }
}
