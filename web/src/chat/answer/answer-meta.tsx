// Below an answer: its figures, and each failover from one worker to another.
import { formatNumber, formatPeer } from '../../ui/formats.ts';
import type { Answer } from '../conversation/conversation.ts';
import { figuresOf, formatMs } from './answer-figures.ts';

export function AnswerMeta({ answer }: { readonly answer: Answer }) {
  const { segments, pauseMs } = answer;
  const failovers = segments?.slice(1) ?? [];
  return (
    <>
      <p
        className="small soft chat-meta"
        title="Speed: visible tokens after the first one, divided by the time they took"
      >
        {figuresOf(answer).join(' · ')}
      </p>
      {failovers.map(({ worker, from }, i) => (
        <p key={`${worker} ${from}`} className="small chat-handover">
          Worker {formatPeer(segments?.[i]?.worker ?? '')} stopped responding after token {formatNumber(from)};{' '}
          {formatPeer(worker)} took over{pauseMs === null ? '' : ` with a gap of at most ${formatMs(pauseMs)}`}. No
          tokens were lost.
        </p>
      ))}
    </>
  );
}
