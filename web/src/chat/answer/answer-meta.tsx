// Below an answer: how many tokens, how fast, after what time, by whom, and each hand-over between workers.

import { formatNumber } from '../../ui/formats.ts';
import type { Answer } from '../conversation/conversation.ts';
import { shortPeer } from '../machines/peer-name.ts';
import { figuresOf, formatMs } from './answer-figures.ts';

export function AnswerMeta({ answer }: { readonly answer: Answer }) {
  const { segments, pauseMs } = answer;
  const handOvers = segments?.slice(1) ?? [];
  return (
    <>
      <p className="small soft chat-meta" title="Speed: visible tokens after the first one, by the time they took">
        {figuresOf(answer).join(' · ')}
      </p>
      {handOvers.map(({ worker, from }, i) => (
        <p key={`${worker} ${from}`} className="small chat-handover">
          Worker {shortPeer(segments?.[i]?.worker ?? '')} went after token {formatNumber(from)}; {shortPeer(worker)}{' '}
          took over{pauseMs === null ? '' : `, with a pause of ${formatMs(pauseMs)} at most`}. Nothing is missing.
        </p>
      ))}
    </>
  );
}
