// A conversation's turns, the newest in sight as long as the reader is at the end.
import { useEffect, useRef } from 'react';
import { AnswerView } from '../answer/answer-view.tsx';
import { asked } from '../asking/answer-runner.ts';
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
import { Versions } from './versions.tsx';

interface ThreadProps {
  readonly conversation: Conversation;
  /** Asks after the head of the conversation given. */
  readonly onAsk: (text: string, after: Conversation) => void;
  /** Asks for an answer to the question that the conversation ends in. */
  readonly onAnswer: (conversationId: string) => void;
}

/** So near to the end counts as there. */
const NEAR_PX = 80;
const GO_ON = 'Go on from where you stopped.';

export function Thread({ conversation, onAsk, onAnswer }: ThreadProps) {
  const { id, sentFrom } = conversation;
  const place = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const isBusy = isRunning(conversation);
  const path = pathOf(conversation);
  const last = path.at(-1);
  const change = (to: (one: Conversation) => Conversation) => store.change(id, to);
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
  const actions = (answer: Answer) => {
    const retry = (sentFromId: string | null) => {
      const at = Date.now();
      change((one) => ({ ...asked(one, answer, at), sentFrom: sentFromId }));
      onAnswer(id);
    };
    return {
      onRetry: () => retry(sentFrom),
      onGoOn: () => onAsk(GO_ON, conversation),
      onShorten:
        path.length > 2 && sentFrom !== answer.parent && path[0]?.id !== answer.parent
          ? () => retry(answer.parent)
          : undefined,
    };
  };
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
          {path.map((turn, i) => (
            // The same place for all versions, so that the focus stays on the arrows.
            <div key={`${turn.role} ${turn.parent}`}>
              {i > 0 && turn.id === sentFrom && (
                <p className="small soft chat-cut">What stands above is not sent any more: it does not fit.</p>
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
                <AnswerView answer={turn} {...(isBusy || turn !== last ? NOTHING : actions(turn))} />
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

const NOTHING = { onRetry: undefined, onGoOn: undefined, onShorten: undefined };

/** Read out once an answer is over, not with each of its words; answers that were over before are not read out. */
function Announcement({ turn }: { readonly turn: Turn | undefined }) {
  const running = useRef<string | null>(null);
  const answer = turn?.role === 'assistant' ? turn : undefined;
  if (answer?.state === 'running') running.current = answer.id;
  const isNews = answer !== undefined && running.current === answer.id;
  return (
    <p className="hidden-text" role="status">
      {!isNews ? '' : answer.state === 'running' ? 'The answer is being written.' : announcementOf(answer)}
    </p>
  );
}
