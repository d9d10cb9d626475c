// The question field: Enter sends, Shift+Enter starts a new line, Escape stops the answer.
import './composer.css';
import { type RefObject, useId, useLayoutEffect } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { onLink } from '../location.ts';

interface ComposerProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly isRunning: boolean;
  readonly canSend: boolean;
  /** Why a submitted question is not sent yet; null if no question waits. */
  readonly waiting: string | null;
  readonly onSend: () => void;
  readonly onStop: () => void;
  /** Estimated tokens of the conversation. */
  readonly tokens: number;
  readonly contextLength: number | null;
}

const MAX_HEIGHT = 240;
/** From this share of the context length, a warning is shown. */
const NEARLY_FULL = 0.8;

export function Composer(props: ComposerProps) {
  const { field, text, onText, isRunning, canSend, waiting, onSend, onStop, tokens, contextLength } = props;
  const id = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text determines the height
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${Math.min(MAX_HEIGHT, current.scrollHeight + 2)}px`;
  }, [text, field]);
  const isNearlyFull = contextLength !== null && tokens > contextLength * NEARLY_FULL;
  return (
    <form
      className="chat-composer screen-only"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <div className="chat-box actions">
        <textarea
          ref={field}
          aria-label="Your question"
          aria-describedby={`${id}-hint`}
          rows={1}
          value={text}
          placeholder="Ask a question"
          onChange={({ target }) => onText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            onSend();
          }}
        />
        {isRunning ? (
          <Button onClick={onStop}>Stop</Button>
        ) : (
          <Button kind="primary" type="submit" disabled={!canSend}>
            Send
          </Button>
        )}
      </div>
      <p className="small chat-waiting" role="status">
        {waiting}
      </p>
      <p id={`${id}-hint`} className="small soft chat-hint row apart">
        <span>
          <kbd>Enter</kbd> to send, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line, <kbd>Esc</kbd> to stop
        </span>
        {contextLength !== null && (
          <span className={isNearlyFull ? 'text-warn strong' : undefined}>
            {`About ${formatNumber(tokens)} of ${formatNumber(contextLength)} tokens`}
            {isNearlyFull && (tokens < contextLength ? ': close to the context limit' : ': the context is full. ')}
            {tokens >= contextLength && (
              <a href="/" onClick={onLink}>
                Start a new conversation
              </a>
            )}
          </span>
        )}
      </p>
    </form>
  );
}
