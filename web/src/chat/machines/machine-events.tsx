// Worker joins and departures while the page was open, and failovers of answers in this browser.
import { useNow } from '../../ui/ago.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatAgo, formatClock, formatPeer, formatRounded } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import type { Answer } from '../conversation/conversation.ts';
import { useConversations } from '../conversation/conversations.ts';
import { onLink } from '../location.ts';
import type { Fleet } from './observed-fleet.ts';

/** Number of events shown, newest first. */
const MAX_EVENTS = 12;

interface EventEntry {
  readonly key: string;
  readonly at: number;
  readonly text: string;
  /** The conversation of the answer. */
  readonly chat: string | null;
}

export function Events({ fleet }: { readonly fleet: Fleet }) {
  const conversations = useConversations();
  const now = useNow(10_000);
  const failovers = conversations.flatMap(({ id, turns }) =>
    turns.flatMap((turn) => (turn.role === 'assistant' ? failoversOf(turn, id) : [])),
  );
  const entries = [
    ...fleet.events.map(({ kind, peer, at }) => ({
      key: `${kind} ${peer} ${at}`,
      at,
      text: `Worker ${formatPeer(peer)} ${kind === 'left' ? 'went offline' : 'joined'}.`,
      chat: null,
    })),
    ...failovers,
  ]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_EVENTS);
  return (
    <Card title="Recent events">
      {entries.length === 0 ? (
        <Empty>No workers have joined or left since this page was opened.</Empty>
      ) : (
        <ol className="lines" aria-live="polite">
          {entries.map(({ key, at, text, chat }) => (
            <li key={key}>
              <time
                className="soft"
                dateTime={new Date(at).toISOString()}
                title={formatAgo(new Date(at).toISOString(), now)}
              >
                {formatClock(at)}
              </time>{' '}
              {text}{' '}
              {chat !== null && (
                <a href={`/?chat=${chat}`} onClick={onLink}>
                  View answer
                </a>
              )}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function failoversOf({ id, askedAt, segments, pauseMs }: Answer, chat: string): EventEntry[] {
  return (segments ?? []).slice(1).map(({ worker, from }, i) => ({
    key: `${id} ${i}`,
    at: askedAt,
    text: `Your answer failed over at token ${from + 1}, from ${formatPeer(segments?.[i]?.worker ?? '')} to ${formatPeer(worker)}${
      pauseMs === null ? '' : `, within ${formatRounded(pauseMs)} ms`
    }.`,
    chat,
  }));
}
