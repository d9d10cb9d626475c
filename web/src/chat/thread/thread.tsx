// The turns of a conversation; scrolls with new text while the reader is at the end.
import { useEffect, useRef } from 'react';
import { AnswerView } from '../answer/answer-view.tsx';
import { rewoundBefore } from '../asking/answer-runner.ts';
import {
  type Answer,
  type Conversation,
  isRunning,
  pathOf,
  showing,
  type Turn,
  versionsOf,
} from '../conversation/conversation.ts';
import { store } from '../conversation/conversations.ts';
import { announcementOf } from '../markdown/markdown-bounds.ts';
import { QuestionView } from './question-view.tsx';

interface ThreadProps {
  readonly conversation: Conversation;
  /** Adds a question after the head of the given conversation. */
  readonly onAsk: (text: string, after: Conversation) => void;
  /** Requests an answer to the last question of the conversation. */
  readonly onAnswer: (conversationId: string) => void;
}

/** Distance from the end that counts as being at the end. */
const NEAR_PX = 80;
const CONTINUE_PROMPT = 'Continue from where you stopped.';

export function Thread({ conversation, onAsk, onAnswer }: ThreadProps) {
  const { id, sentFrom } = conversation;
  const scroller = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const isBusy = isRunning(conversation);
  const path = pathOf(conversation);
  const last = path.at(-1);
  const change = (to: (one: Conversation) => Conversation) => store.change(id, to);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the last turn changes
  useEffect(() => {
    const { current } = scroller;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [last]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another conversation is shown
  useEffect(() => {
    isAtEnd.current = true;
    const { current } = scroller;
    if (current) current.scrollTop = current.scrollHeight;
  }, [id]);
  const actions = (answer: Answer) => {
    const retry = (sentFromId: string | null) => {
      const at = Date.now();
      change((one) => ({ ...rewoundBefore(one, answer, at), sentFrom: sentFromId }));
      onAnswer(id);
    };
    return {
      onRetry: () => retry(sentFrom),
      onContinue: () => onAsk(CONTINUE_PROMPT, conversation),
      onShorten:
        path.length > 2 && sentFrom !== answer.parent && path[0]?.id !== answer.parent
          ? () => retry(answer.parent)
          : undefined,
    };
  };
  return (
    <>
      <section
        ref={scroller}
        className="chat-thread"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        aria-label="Questions and answers"
        onScroll={({ currentTarget: at }) => {
          isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
        }}
      >
        <div className="chat-turns stack">
          {path.map((turn, i) => (
            // The same key for all versions, so that the focus stays on the arrows.
            <div key={`${turn.role} ${turn.parent}`}>
              {i > 0 && turn.id === sentFrom && (
                <p className="small soft chat-cut">Messages above this line exceed the context and are not sent.</p>
              )}
              {turn.role === 'user' ? (
                <QuestionView
                  question={turn}
                  hasMore={i < path.length - 1}
                  onEdit={
                    isBusy
                      ? undefined
                      : (text) => {
                          change((one) => ({ ...one, head: turn.parent, headAt: Date.now() }));
                          onAsk(text, store.find(id) ?? conversation);
                        }
                  }
                />
              ) : (
                <AnswerView answer={turn} {...(isBusy || turn !== last ? NO_ACTIONS : actions(turn))} />
              )}
              <Versions
                what={turn.role === 'user' ? 'question' : 'answer'}
                ids={versionsOf(conversation, turn).map((version) => version.id)}
                shown={turn.id}
                onShow={isBusy ? undefined : (version) => change((one) => showing(one, version, Date.now()))}
              />
            </div>
          ))}
        </div>
      </section>
      <Announcement key={id} turn={last} />
    </>
  );
}

const NO_ACTIONS = { onRetry: undefined, onContinue: undefined, onShorten: undefined };

/** Announced once when an answer ends; answers that had ended before are not announced. */
function Announcement({ turn }: { readonly turn: Turn | undefined }) {
  const running = useRef<string | null>(null);
  const answer = turn?.role === 'assistant' ? turn : undefined;
  if (answer?.state === 'running') running.current = answer.id;
  const isNews = answer !== undefined && running.current === answer.id;
  return (
    <p className="hidden-text" role="status">
      {!isNews ? '' : answer.state === 'running' ? 'The answer is being generated.' : announcementOf(answer)}
    </p>
  );
}

interface VersionsProps {
  readonly what: 'question' | 'answer';
  /** All versions, oldest first. */
  readonly ids: readonly string[];
  readonly shown: string;
  /** Undefined while an answer is running. */
  readonly onShow: ((id: string) => void) | undefined;
}

/** Switches between the versions of a question or answer. */
function Versions({ what, ids, shown, onShow }: VersionsProps) {
  if (ids.length < 2) return null;
  const at = ids.indexOf(shown);
  const step = (to: number, label: string, sign: string) => {
    const id = ids[to];
    return (
      <button
        type="button"
        className="chat-icon screen-only"
        aria-label={label}
        // Not `disabled`, which would lose the focus at the first or last version.
        aria-disabled={id === undefined || !onShow}
        onClick={() => id !== undefined && onShow?.(id)}
      >
        <span aria-hidden="true">{sign}</span>
      </button>
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: not a group of form fields
    <div
      className={`chat-versions row screen-only small soft ${what}`}
      role="group"
      aria-label={`Versions of this ${what}`}
    >
      {step(at - 1, `Earlier version of this ${what}`, '‹')}
      <span aria-live="polite">{`${at + 1} of ${ids.length}`}</span>
      {step(at + 1, `Later version of this ${what}`, '›')}
    </div>
  );
}
