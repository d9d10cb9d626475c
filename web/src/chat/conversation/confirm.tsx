// Asks before something is lost.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  readonly onAnswer: (isSure: boolean) => void;
  readonly children?: ReactNode;
}

export function Confirm({ title, action, onAnswer, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key: one pressed at once must meet the question, not the page behind it.
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  // Closed before it goes, so that the focus returns to where it was.
  const answer = (isSure: boolean) => {
    dialog.current?.close();
    onAnswer(isSure);
  };
  return (
    <dialog
      ref={dialog}
      className="chat-confirm"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        answer(false);
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <div className="actions">
        <button className="button" type="button" onClick={() => answer(false)}>
          Keep
        </button>
        <button className="button primary" type="button" onClick={() => answer(true)}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
