// Why an answer is missing or incomplete, and what the user can do.
import { useEffect, useState } from 'react';
import { formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import type { AnswerProblem } from '../conversation/conversation.ts';
import { KeyForm } from '../key-form.tsx';

interface ProblemViewProps {
  readonly problem: AnswerProblem;
  /** Part of the answer was received. */
  readonly hasText: boolean;
  readonly onRetry: (() => void) | undefined;
  readonly onContinue: (() => void) | undefined;
  /** Asks the last question again without the earlier turns. */
  readonly onShorten: (() => void) | undefined;
}

export function ProblemView({ problem, hasText, onRetry, onContinue, onShorten }: ProblemViewProps) {
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
        <Notice title="The API key is missing or invalid" tone="warn" actions={again}>
          <KeyForm />
        </Notice>
      );
    case 'rate_limit_exceeded':
      return (
        <Notice title="Rate limit reached" tone="warn" actions={again}>
          <p>{message}</p>
          {retryAt !== null && (
            <p>
              {wait > 90
                ? `Try again after ${formatTime(new Date(retryAt).toISOString())}.`
                : wait > 0
                  ? `Try again in ${wait} s.`
                  : 'You can try again now.'}
            </p>
          )}
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
            onShorten && (
              <button className="button primary" type="button" onClick={onShorten}>
                Ask without earlier messages
              </button>
            )
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
                <button className="button primary" type="button" onClick={onContinue}>
                  Continue from here
                </button>
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

/** Seconds left until the given time; 0 if it has passed or is null. */
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
