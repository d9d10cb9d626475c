// The event list of the live page, newest first; each event has a receipt.
import type { StackEvent } from '@strata/client';
import { memo, useState } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { formatAgo, formatClock, formatTime } from '../../ui/formats.ts';
import { Verify } from '../answer/source.tsx';
import type { Entry } from './entries.ts';
import { EventSentence } from './event-text.tsx';

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
      <Receipt event={event} />
    </li>
  );
});

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
      const affected =
        first.domains.version > 0
          ? `${first.domains.version} with an affected version`
          : `${first.domains.product} with the product, version unknown`;
      return [first.title, first.severity && `${first.severity} severity`, `domains: ${affected}`]
        .filter(Boolean)
        .join(' · ');
    }
    default:
      return event satisfies never;
  }
}

/** Each event is signed individually and can be verified without the answer that contained it. */
function Receipt({ event }: { readonly event: StackEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="live-receipt" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Receipt<span className="hidden-text"> of event {event.id}</span>
      </summary>
      {isOpen && <Verify answer={JSON.stringify(event)} receiptId={event.provenance.receipt_id} />}
    </details>
  );
}
