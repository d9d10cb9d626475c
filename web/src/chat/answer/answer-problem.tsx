// Why an answer is missing or incomplete, and what the user can do.
import { useNow } from '../../ui/ago.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Notice, Retry } from '../../ui/states.tsx';
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
            onShorten && (
              <Button kind="primary" onClick={onShorten}>
                Ask without earlier messages
              </Button>
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
