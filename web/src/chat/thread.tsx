// A conversation's turns, the newest in sight as long as the reader is at the end.
import { useEffect, useRef } from 'react';
import { AnswerView } from './answer-view.tsx';
import { isRunning } from './answering.ts';
import type { Answer, Conversation, Turn } from './conversations.ts';
import { QuestionView } from './question-view.tsx';

interface ThreadProps {
  readonly conversation: Conversation;
  /** Asks after the turns given; what came later is dropped. */
  readonly onAsk: (text: string, before: readonly Turn[]) => void;
  /** Asks for an answer to a conversation that ends in a question. */
  readonly onAnswer: (conversation: Conversation) => void;
}

/** So near to the end counts as there. */
const NEAR_PX = 80;
const GO_ON = 'Go on from where you stopped.';

export function Thread({ conversation, onAsk, onAnswer }: ThreadProps) {
  const { id, turns, sentFrom } = conversation;
  const place = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const isBusy = isRunning(conversation);
  const last = turns.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new is the reason
  useEffect(() => {
    const { current } = place;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [last]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is shown from its end
  useEffect(() => {
    isAtEnd.current = true;
    const { current } = place;
    if (current) current.scrollTop = current.scrollHeight;
  }, [id]);
  return (
    <>
      <section
        ref={place}
        className="chat-thread"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        aria-label="Questions and answers"
        onScroll={({ currentTarget: at }) => {
          isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
        }}
      >
        <div className="chat-turns">
          {turns.map((turn, i) => (
            <div key={turn.id}>
              {sentFrom > 0 && i === sentFrom && (
                <p className="small soft chat-cut">What stands above is not sent any more: it does not fit.</p>
              )}
              {turn.role === 'user' ? (
                <QuestionView
                  question={turn}
                  after={turns.length - i - 1}
                  onEdit={isBusy ? undefined : (text) => onAsk(text, turns.slice(0, i))}
                />
              ) : (
                <AnswerView
                  answer={turn}
                  {...(isBusy || turn !== last ? NOTHING : actionsOf(turn, conversation, { onAsk, onAnswer }))}
                />
              )}
            </div>
          ))}
        </div>
      </section>
      <FinishedAnswer turn={last} />
    </>
  );
}

const NOTHING = { onRetry: undefined, onGoOn: undefined, onShorten: undefined };

function actionsOf(
  answer: Answer,
  conversation: Conversation,
  { onAsk, onAnswer }: Pick<ThreadProps, 'onAsk' | 'onAnswer'>,
) {
  const { turns, sentFrom } = conversation;
  const before = turns.slice(0, turns.indexOf(answer));
  return {
    onRetry: () => onAnswer({ ...conversation, turns: before }),
    onGoOn: () => onAsk(GO_ON, turns),
    onShorten:
      before.length - 1 > sentFrom
        ? () => onAnswer({ ...conversation, turns: before, sentFrom: before.length - 1 })
        : undefined,
  };
}

/** Read out once an answer is over, not with each of its words. */
function FinishedAnswer({ turn }: { readonly turn: Turn | undefined }) {
  const wasRunning = useRef(false);
  const isNow = turn?.role === 'assistant' && turn.state === 'running';
  const text = wasRunning.current && !isNow && turn?.role === 'assistant' ? turn.text : '';
  useEffect(() => {
    if (isNow) wasRunning.current = true;
  }, [isNow]);
  return (
    <p className="hidden-text" role="status">
      {text !== '' && `Answer: ${text}`}
    </p>
  );
}
