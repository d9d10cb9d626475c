// A question, displayed or being edited.
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import type { Question } from '../conversation/conversation.ts';

interface QuestionViewProps {
  readonly question: Question;
  /** Turns follow, which an edited question does not include. */
  readonly hasMore: boolean;
  /** Undefined while an answer is running. */
  readonly onEdit: ((text: string) => void) | undefined;
}

export function QuestionView({ question: { text }, hasMore, onEdit }: QuestionViewProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (draft === null && wasEditing.current) button.current?.focus();
    wasEditing.current = draft !== null;
  }, [draft]);
  const send = () => {
    if (draft === null || draft.trim() === '') return;
    setDraft(null);
    onEdit?.(draft.trim());
  };
  return (
    <article className="chat-question">
      <h2 className="hidden-text">You asked</h2>
      {draft === null ? (
        <>
          <p className="chat-plain">{text}</p>
          {onEdit && (
            <button
              ref={button}
              className="chat-icon screen-only"
              type="button"
              onClick={() => setDraft(text)}
              aria-label="Edit question"
            >
              <span aria-hidden="true">✎</span>
            </button>
          )}
        </>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <textarea
            aria-label="Edited question"
            rows={Math.min(10, draft.split('\n').length + 1)}
            value={draft}
            // biome-ignore lint/a11y/noAutofocus: the user opened this field
            autoFocus
            onChange={({ target }) => setDraft(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') {
                event.preventDefault();
                setDraft(null);
              }
              if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
                event.preventDefault();
                send();
              }
            }}
          />
          <p className="small soft">
            {hasMore
              ? 'Creates a new version of this question. Earlier versions and their answers are kept; switch with the arrows.'
              : 'Creates a new version of this question.'}
          </p>
          <div className="actions">
            <Button kind="primary" type="submit">
              Save and send
            </Button>
            <Button onClick={() => setDraft(null)}>Cancel</Button>
          </div>
        </form>
      )}
    </article>
  );
}
