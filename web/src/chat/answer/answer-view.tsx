// An answer: its text, figures, workers and actions.
import { lazy, Suspense, useEffect, useState } from 'react';
import { useNow } from '../../ui/ago.tsx';
import { Button, CopyButton } from '../../ui/controls/button.tsx';
import { LazyDetails } from '../../ui/controls/lazy-details.tsx';
import { formatNumber, formatPeer, formatTime } from '../../ui/formats.ts';
import { Notice, Retry } from '../../ui/states.tsx';
import type { Answer, AnswerProblem } from '../conversation/conversation.ts';
import { KeyForm } from '../key-form.tsx';
import { onLink } from '../location.ts';
import { AnswerText } from '../markdown/answer-text.tsx';
import { figuresOf, formatMs } from './answer-figures.ts';

const ReceiptView = lazy(async () => ({ default: (await import('./receipt-view.tsx')).ReceiptView }));

/** A gap that a reader notices. */
const NOTICEABLE_MS = 400;

interface AnswerViewProps {
  readonly answer: Answer;
  readonly onRetry: (() => void) | undefined;
  readonly onContinue: (() => void) | undefined;
  readonly onShorten: (() => void) | undefined;
}

export function AnswerView({ answer, onRetry, onContinue, onShorten }: AnswerViewProps) {
  const { text, state, problem, receiptId, finishReason } = answer;
  const isFinished = state !== 'running';
  return (
    <article className="chat-answer stack" data-state={state}>
      <h2 className="hidden-text">Answer</h2>
      {text !== '' && (
        <div className="chat-text stack">
          <AnswerText key={answer.id} text={text} isComplete={isFinished} />
        </div>
      )}
      {!isFinished && <Pending answer={answer} />}
      {state === 'stopped' && (
        <p className="small soft">{text === '' ? 'Stopped before the first token.' : 'Answer stopped.'}</p>
      )}
      {state === 'whole' && text === '' && <p className="small soft">The model returned an empty answer.</p>}
      {state === 'whole' && finishReason === 'length' && (
        <p className="small soft">The answer reached its token limit.</p>
      )}
      {problem && (
        <ProblemView
          problem={problem}
          hasText={text !== ''}
          onRetry={onRetry}
          onContinue={onContinue}
          onShorten={onShorten}
        />
      )}
      {isFinished && (text !== '' || answer.tokens !== null) && <AnswerMeta answer={answer} />}
      {isFinished && (
        <div className="actions chat-tools">
          {text !== '' && <CopyButton text={text} label="Copy answer" />}
          {onRetry && !problem && (
            <Button kind="small" onClick={onRetry}>
              Retry
            </Button>
          )}
          {onContinue && !problem && (state === 'stopped' || finishReason === 'length') && text !== '' && (
            <Button kind="small" onClick={onContinue}>
              Continue
            </Button>
          )}
          {receiptId && text !== '' && (
            <LazyDetails key={answer.id} summary="Receipt and workers">
              <Suspense fallback={<p className="small soft">Loading …</p>}>
                <ReceiptView answer={answer} receiptId={receiptId} />
              </Suspense>
            </LazyDetails>
          )}
        </div>
      )}
    </article>
  );
}

/** Shows progress, and how long no text has arrived; each piece of text restarts the timer. */
function Pending({ answer: { text, askedAt } }: { readonly answer: Answer }) {
  const [idleMs, setIdleMs] = useState(0);
  useEffect(() => {
    const from = text === '' ? askedAt : Date.now();
    setIdleMs(0);
    const timer = setInterval(() => setIdleMs(Date.now() - from), 100);
    return () => clearInterval(timer);
  }, [text, askedAt]);
  const isIdle = idleMs >= NOTICEABLE_MS;
  return (
    <p className="small soft row">
      <span className="chat-cursor" aria-hidden="true" />
      {isIdle
        ? `${text === '' ? 'Waiting for the first token' : 'No new tokens; if the worker has failed, another takes over'}: ${(idleMs / 1_000).toFixed(1)} s`
        : text === ''
          ? 'Sending …'
          : 'Generating …'}
    </p>
  );
}

/** The figures, and each failover from one worker to another. */
function AnswerMeta({ answer }: { readonly answer: Answer }) {
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

interface ProblemViewProps {
  readonly problem: AnswerProblem;
  /** Part of the answer was received. */
  readonly hasText: boolean;
  readonly onRetry: (() => void) | undefined;
  readonly onContinue: (() => void) | undefined;
  /** Asks the last question again without the earlier turns. */
  readonly onShorten: (() => void) | undefined;
}

function ProblemView({ problem, hasText, onRetry, onContinue, onShorten }: ProblemViewProps) {
  const { code, message, requestId, retryAt } = problem;
  const again = onRetry && <Retry onRetry={onRetry} />;
  switch (code) {
    case 'invalid_api_key':
      return (
        <Notice title="The API key is missing or invalid" tone="warn" actions={again}>
          <KeyForm />
        </Notice>
      );
    case 'rate_limit_exceeded':
      return (
        <Notice title="Rate limit reached" tone="warn" actions={again}>
          <p>{message}</p>
          {retryAt !== null && <Wait until={retryAt} />}
        </Notice>
      );
    case 'model_not_found':
      return (
        <Notice title="This model is no longer available" tone="warn" actions={again}>
          <p>Choose another model above the conversation, or wait until a worker offers this one again.</p>
        </Notice>
      );
    case 'context_length_exceeded':
      return (
        <Notice
          title="The conversation exceeds the model's context length"
          tone="warn"
          actions={
            <>
              {onShorten && (
                <Button kind="primary" onClick={onShorten}>
                  Ask without earlier messages
                </Button>
              )}
              <a className="button" href="/" onClick={onLink}>
                Start a new conversation
              </a>
            </>
          }
        >
          <p>{message}</p>
          {!onShorten && <p>Edit the question to make it shorter.</p>}
        </Notice>
      );
    case 'network':
      return (
        <Notice
          title={hasText ? 'The connection was lost' : 'The service cannot be reached'}
          tone="warn"
          actions={
            <>
              {hasText && onContinue && (
                <Button kind="primary" onClick={onContinue}>
                  Continue from here
                </Button>
              )}
              {again}
            </>
          }
        >
          <p>
            {hasText
              ? 'The text received so far is kept.'
              : 'You are offline, or the service is not running. Your question is kept: try again later.'}
          </p>
        </Notice>
      );
    default:
      return (
        <Notice title={hasText ? 'The answer was interrupted' : 'The request failed'} tone="bad" actions={again}>
          <p>{message}</p>
          {requestId && <p className="soft small">Request ID: {requestId}</p>}
        </Notice>
      );
  }
}

/** When a retry may succeed. */
function Wait({ until }: { readonly until: number }) {
  const seconds = Math.ceil((until - useNow(1_000)) / 1_000);
  if (seconds > 90) return <p>Try again after {formatTime(until)}.</p>;
  return <p>{seconds > 0 ? `Try again in ${seconds} s.` : 'You can try again now.'}</p>;
}
