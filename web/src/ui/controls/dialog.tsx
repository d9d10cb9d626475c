// A modal dialog. The native element handles focus and Escape.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  /** The button that confirms; without it, the dialog only informs. */
  readonly action?: string;
  readonly onClose: (isConfirmed: boolean) => void;
  readonly children: ReactNode;
}

export function Dialog({ title, action, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Opened before the next key press, so that the dialog receives it, not the page behind.
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={({ currentTarget }) => onClose(currentTarget.returnValue === 'confirmed')}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <form method="dialog" className="actions">
        <Button type="submit">{action ? 'Cancel' : 'Close'}</Button>
        {action && (
          <Button kind="primary" type="submit" value="confirmed">
            {action}
          </Button>
        )}
      </form>
    </dialog>
  );
}
