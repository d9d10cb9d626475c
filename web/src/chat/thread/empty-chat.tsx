// Before the first question: what this is, a key where there is none, and something to ask.
import { Notice } from '../../ui/states.tsx';
import type { InferenceProblem } from '../inference.ts';
import { useKey } from '../key.ts';
import { KeyForm } from '../key-form.tsx';
import { onLink } from '../location.ts';

interface EmptyChatProps {
  readonly problem: InferenceProblem | null;
  readonly hasModels: boolean;
  readonly onRetry: () => void;
  readonly onAsk: (question: string) => void;
}

const QUESTIONS = ['What is DMARC?', 'What is SPF?', 'What does DNSSEC do?', 'What is Strata?'];

export function EmptyChat({ problem, hasModels, onRetry, onAsk }: EmptyChatProps) {
  const key = useKey();
  return (
    <div className="chat-thread chat-empty">
      <div className="chat-turns">
        <h2>Ask a model that runs on lent machines</h2>
        <p className="soft">
          Each answer is made by{' '}
          <a href="/machines" onClick={onLink}>
            workers of the network
          </a>
          , goes on where one of them fails, and has a signed receipt that your browser can check.
        </p>
        {key === undefined ? (
          <Notice title="First, a key">
            <KeyForm />
          </Notice>
        ) : problem ? (
          <ModelsProblem problem={problem} onRetry={onRetry} />
        ) : hasModels ? (
          <ul className="chat-examples">
            {QUESTIONS.map((question) => (
              <li key={question}>
                <button className="button" type="button" onClick={() => onAsk(question)}>
                  {question}
                </button>
              </li>
            ))}
          </ul>
        ) : (
          <Notice title="No model is there just now" tone="warn">
            <p>It comes back with the first machine that lends one; this page looks every few seconds.</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

function ModelsProblem({ problem, onRetry }: { readonly problem: InferenceProblem; readonly onRetry: () => void }) {
  if (problem.code === 'invalid_api_key') {
    return (
      <Notice title="This key is not known here" tone="warn">
        <p>It may have been revoked, or belong to another service.</p>
        <KeyForm />
      </Notice>
    );
  }
  return (
    <Notice
      title={problem.code === 'network' ? 'The service cannot be reached' : 'The models cannot be listed'}
      tone="warn"
      actions={
        <button className="button" type="button" onClick={onRetry}>
          Try again
        </button>
      }
    >
      <p>
        {problem.code === 'network'
          ? 'Either you are offline or it is not running. Your conversations can be read all the same.'
          : problem.message}
      </p>
    </Notice>
  );
}
