// A confirmation dialog for destructive actions.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  readonly onAnswer: (isConfirmed: boolean) => void;
  readonly children?: ReactNode;
}

export function Confirm({ title, action, onAnswer, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Opened before the next key press, so that the dialog receives it, not the page behind.
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  // Closed before it is removed, so that the focus returns to where it was.
  const answer = (isConfirmed: boolean) => {
    dialog.current?.close();
    onAnswer(isConfirmed);
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        answer(false);
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <div className="actions">
        <Button onClick={() => answer(false)}>Cancel</Button>
        <Button kind="primary" onClick={() => answer(true)}>
          {action}
        </Button>
      </div>
    </dialog>
  );
}
