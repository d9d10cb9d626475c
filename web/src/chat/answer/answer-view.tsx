// An answer: its text as it comes, how fast it came, who made it, and what can be done with it.
import { lazy, Suspense, useEffect, useState } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Answer } from '../conversation/conversation.ts';
import { AnswerText } from '../markdown/answer-text.tsx';
import { AnswerMeta } from './answer-meta.tsx';
import { ProblemView } from './answer-problem.tsx';

const ReceiptView = lazy(async () => ({ default: (await import('./receipt-view.tsx')).ReceiptView }));

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
  const isOver = state !== 'running';
  return (
    <article className="chat-answer" data-state={state}>
      <h2 className="hidden-text">Answer</h2>
      {text !== '' && (
        <div className="chat-text">
          <AnswerText key={answer.id} text={text} isOver={isOver} />
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
      {isOver && (text !== '' || answer.tokens !== null) && <AnswerMeta answer={answer} />}
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
          {receiptId && text !== '' && <Receipt key={answer.id} answer={answer} receiptId={receiptId} />}
        </div>
      )}
    </article>
  );
}

/** Loaded when somebody opens it. */
function Receipt(props: { readonly answer: Answer; readonly receiptId: string }) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details onToggle={() => setOpened(true)}>
      <summary>Receipt and workers</summary>
      {wasOpened && (
        <Suspense fallback={<p className="small soft">Loading …</p>}>
          <ReceiptView {...props} />
        </Suspense>
      )}
    </details>
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
