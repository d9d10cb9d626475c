// Who came and went while the page was open, and which answers of this browser changed hands.
import { useEffect, useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatAgo, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import type { Answer } from '../conversation/conversation.ts';
import { useConversations } from '../conversation/conversations.ts';
import { onLink } from '../location.ts';
import type { Fleet } from './observed-fleet.ts';
import { shortPeer } from './peer-name.ts';
import { clockTime } from './use-network.ts';

/** Hand-overs told, newest first. */
const MAX_TOLD = 12;

interface Told {
  readonly key: string;
  readonly at: number;
  readonly what: string;
  /** The conversation in which it happened. */
  readonly chat: string | null;
}

/** Who came and went while this page looked, and which answers of this browser changed hands. */
export function Events({ fleet }: { readonly fleet: Fleet }) {
  const conversations = useConversations();
  const now = useNow();
  const handOvers = conversations.flatMap(({ id, turns }) =>
    turns.flatMap((turn) => (turn.role === 'assistant' ? handOversOf(turn, id) : [])),
  );
  const told = [
    ...fleet.events.map(({ kind, peer, at }) => ({
      key: `${kind} ${peer} ${at}`,
      at,
      what: `Worker ${shortPeer(peer)} ${kind === 'gone' ? 'has gone' : 'has joined'}.`,
      chat: null,
    })),
    ...handOvers,
  ]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_TOLD);
  return (
    <Card title="What happened">
      {told.length === 0 ? (
        <Empty>Nobody has come or gone since this page was opened.</Empty>
      ) : (
        <ol className="chat-events" aria-live="polite">
          {told.map(({ key, at, what, chat }) => (
            <li key={key}>
              <time dateTime={new Date(at).toISOString()} title={formatAgo(new Date(at).toISOString(), now)}>
                {clockTime(at)}
              </time>
              <span>
                {what}{' '}
                {chat !== null && (
                  <a href={`/?chat=${chat}`} onClick={onLink}>
                    See the answer
                  </a>
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function handOversOf({ id, askedAt, segments, pauseMs }: Answer, chat: string): Told[] {
  return (segments ?? []).slice(1).map(({ worker, from }, i) => ({
    key: `${id} ${i}`,
    at: askedAt,
    what: `Your answer was handed over at token ${from + 1}, from ${shortPeer(segments?.[i]?.worker ?? '')} to ${shortPeer(worker)}${
      pauseMs === null ? '' : `, after ${formatNumber(Math.round(pauseMs))} ms at most`
    }.`,
    chat,
  }));
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
