// An answer: its text as it comes, how fast it came, who made it, and what can be done with it.
import { lazy, Suspense, useDeferredValue, useEffect, useState } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';
import { formatNumber } from '../ui/formats.ts';
import { ProblemView } from './answer-problem.tsx';
import type { Answer } from './conversations.ts';
import { shortPeer } from './fleet.ts';
import { ReceiptView } from './receipt-view.tsx';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** A pause that a reader notices. */
const NOTICED_MS = 400;

interface AnswerViewProps {
  readonly answer: Answer;
  readonly onRetry: (() => void) | undefined;
  readonly onGoOn: (() => void) | undefined;
  readonly onShorten: (() => void) | undefined;
}

export function AnswerView({ answer, onRetry, onGoOn, onShorten }: AnswerViewProps) {
  const { text, state, problem, receiptId, finishReason } = answer;
  const shown = useDeferredValue(text);
  const isOver = state !== 'running';
  return (
    <article className="chat-answer" data-state={state}>
      <h2 className="hidden-text">Answer</h2>
      {text !== '' && (
        <div className="chat-text">
          <Suspense fallback={<p className="chat-plain">{text}</p>}>
            <Markdown text={shown} />
          </Suspense>
        </div>
      )}
      {!isOver && <Pending answer={answer} />}
      {state === 'stopped' && (
        <p className="small soft">{text === '' ? 'Stopped before the first word.' : 'Stopped here.'}</p>
      )}
      {state === 'whole' && text === '' && <p className="small soft">The model said nothing.</p>}
      {state === 'whole' && finishReason === 'length' && (
        <p className="small soft">The answer ended at its limit of tokens.</p>
      )}
      {problem && (
        <ProblemView problem={problem} hasText={text !== ''} onRetry={onRetry} onGoOn={onGoOn} onShorten={onShorten} />
      )}
      {isOver && <Meta answer={answer} />}
      {isOver && (
        <div className="actions chat-tools">
          {text !== '' && <CopyButton text={text} label="Copy the answer" />}
          {onRetry && !problem && (
            <button className="button small" type="button" onClick={onRetry}>
              Retry
            </button>
          )}
          {onGoOn && !problem && (state === 'stopped' || finishReason === 'length') && text !== '' && (
            <button className="button small" type="button" onClick={onGoOn}>
              Go on
            </button>
          )}
          {receiptId && text !== '' && (
            <details>
              <summary>Receipt and workers</summary>
              <ReceiptView answer={answer} receiptId={receiptId} />
            </details>
          )}
        </div>
      )}
    </article>
  );
}

/** That it is being worked on, and for how long nothing has come; each piece begins the wait anew. */
function Pending({ answer: { text, askedAt } }: { readonly answer: Answer }) {
  const [stillMs, setStillMs] = useState(0);
  useEffect(() => {
    const from = text === '' ? askedAt : Date.now();
    setStillMs(0);
    const timer = setInterval(() => setStillMs(Date.now() - from), 100);
    return () => clearInterval(timer);
  }, [text, askedAt]);
  const isStill = stillMs >= NOTICED_MS;
  return (
    <p className="small soft chat-pending">
      <span className="chat-cursor" aria-hidden="true" />
      {isStill
        ? `${text === '' ? 'Waiting for the first word' : 'A pause; if its worker is gone, another takes over'}: ${(stillMs / 1_000).toFixed(1)} s`
        : text === ''
          ? 'Asked …'
          : 'Writing …'}
    </p>
  );
}

/** Tokens, speed, time to the first one, who made it, and a hand-over between workers. */
function Meta({ answer }: { readonly answer: Answer }) {
  const { model, tokens, firstTokenMs, writingMs, segments, pauseMs } = answer;
  if (tokens === null) return null;
  const speed = writingMs !== null && writingMs > 0 && tokens > 1 ? ((tokens - 1) * 1_000) / writingMs : null;
  const parts = [
    model,
    `${formatNumber(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`,
    ...(speed === null ? [] : [`${formatNumber(Math.round(speed))} tokens/s`]),
    ...(firstTokenMs === null ? [] : [`first after ${formatMs(firstTokenMs)}`]),
    ...(segments && segments.length > 0 ? [`by ${workersOf(segments)}`] : []),
  ];
  const handOvers = segments?.slice(1) ?? [];
  return (
    <>
      <p className="small soft chat-meta">{parts.join(' · ')}</p>
      {handOvers.map(({ worker, from }, i) => (
        <p key={`${worker} ${from}`} className="small chat-handover">
          Worker {shortPeer(segments?.[i]?.worker ?? '')} went after token {formatNumber(from)}; {shortPeer(worker)}{' '}
          took over{pauseMs === null ? '' : `, with a pause of ${formatMs(pauseMs)} at most`}. Nothing is missing.
        </p>
      ))}
    </>
  );
}

const workersOf = (segments: NonNullable<Answer['segments']>) => {
  const names = [...new Set(segments.map(({ worker }) => shortPeer(worker)))];
  return `${names.length === 1 ? 'worker' : 'workers'} ${names.join(', then ')}`;
};

const formatMs = (ms: number) => (ms < 1_000 ? `${formatNumber(Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`);
