// Why an answer did not come, or not whole, in words, and what can be done.
import { useEffect, useState } from 'react';
import { formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import type { AnswerProblem } from '../conversation/conversation.ts';
import { KeyForm } from '../key-form.tsx';

interface ProblemViewProps {
  readonly problem: AnswerProblem;
  /** Some of the answer has come. */
  readonly hasText: boolean;
  readonly onRetry: (() => void) | undefined;
  readonly onGoOn: (() => void) | undefined;
  /** Asks again without what was said before the last question. */
  readonly onShorten: (() => void) | undefined;
}

export function ProblemView({ problem, hasText, onRetry, onGoOn, onShorten }: ProblemViewProps) {
  const { code, message, requestId, retryAt } = problem;
  const wait = useSecondsUntil(retryAt);
  const again = onRetry && (
    <button className="button" type="button" onClick={onRetry}>
      Try again
    </button>
  );
  switch (code) {
    case 'invalid_api_key':
      return (
        <Notice title="A key is needed, or this one is not known here" tone="warn" actions={again}>
          <KeyForm />
        </Notice>
      );
    case 'rate_limit_exceeded':
      return (
        <Notice title="This key has to wait" tone="warn" actions={again}>
          <p>{message}</p>
          {retryAt !== null && (
            <p>
              {wait > 90
                ? `From ${formatTime(new Date(retryAt).toISOString())} on.`
                : wait > 0
                  ? `In ${wait} s.`
                  : 'Now it may ask again.'}
            </p>
          )}
        </Notice>
      );
    case 'model_not_found':
      return (
        <Notice title="This model is not there any more" tone="warn" actions={again}>
          <p>Choose another one above the conversation, or wait until a machine lends it again.</p>
        </Notice>
      );
    case 'context_length_exceeded':
      return (
        <Notice
          title="The conversation is longer than the model can read"
          tone="warn"
          actions={
            onShorten && (
              <button className="button primary" type="button" onClick={onShorten}>
                Ask without what was said before
              </button>
            )
          }
        >
          <p>{message}</p>
          {!onShorten && <p>Edit the question and make it shorter.</p>}
        </Notice>
      );
    case 'network':
      return (
        <Notice
          title={hasText ? 'The connection was lost midway' : 'The service cannot be reached'}
          tone="warn"
          actions={
            <>
              {hasText && onGoOn && (
                <button className="button primary" type="button" onClick={onGoOn}>
                  Go on from here
                </button>
              )}
              {again}
            </>
          }
        >
          <p>
            {hasText
              ? 'What had come is kept.'
              : 'Either you are offline or it is not running. Your question is kept: try again when it is back.'}
          </p>
        </Notice>
      );
    default:
      return (
        <Notice title={hasText ? 'The answer broke off' : 'There is no answer to this'} tone="bad" actions={again}>
          <p>{message}</p>
          {requestId && <p className="soft small">Request {requestId}</p>}
        </Notice>
      );
  }
}

/** Counts down while there is something to wait for. */
function useSecondsUntil(at: number | null): number {
  const [now, setNow] = useState(Date.now);
  const left = at === null ? 0 : Math.max(0, Math.ceil((at - now) / 1_000));
  const isWaiting = left > 0;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return left;
}
