// The result of a verification in this browser: its steps, and the warning about a log that conflicts with earlier data.
import type { Conflict } from '@strata/client';
import type { ReactNode } from 'react';
import { Button } from './controls/button.tsx';
import { Notice } from './states.tsx';

const MARKS = { good: ['✓', 'valid'], bad: ['✗', 'invalid'], open: ['○', 'not verified'] } as const;

interface StepProps {
  readonly state: keyof typeof MARKS;
  readonly title: string;
  readonly detail: string;
  /** What the step verifies. */
  readonly question?: string;
}

export function Step({ state, title, question, detail }: StepProps) {
  const [sign, text] = MARKS[state];
  return (
    <li className={state}>
      <span className={`text-${state}`} aria-hidden="true">
        {sign}
      </span>
      <div>
        <strong>{title}</strong>
        <span className="hidden-text"> {text}.</span> {question}
        <span className="soft small block">{detail}</span>
      </div>
    </li>
  );
}

interface VerificationProps extends LedgerConflictProps {
  readonly verdict: 'good' | 'bad' | 'open';
  readonly message: string;
  /** The steps. */
  readonly children: ReactNode;
}

export function Verification({ conflict, onReset, verdict, message, children }: VerificationProps) {
  return (
    <>
      <ol className="steps stack note">{children}</ol>
      {conflict ? (
        <LedgerConflict conflict={conflict} onReset={onReset} />
      ) : (
        <p className={`verdict strong text-${verdict}`}>{message}</p>
      )}
    </>
  );
}

const TEXTS: Readonly<Record<Conflict['kind'], string>> = {
  fork: 'The log has two histories: it no longer contains entries that this browser has verified before.',
  rollback:
    'The log has lost entries that this browser has verified before. This can happen after a restore from an old backup.',
  'other-key': 'The log is signed with a different key, which the known key has not authorized.',
  'other-ledger': 'The log of this service has a different name than before.',
  unproved: 'The log does not prove that it still contains all entries that this browser has verified before.',
  unreadable: 'The data that this browser has stored about the log is unreadable.',
};

interface LedgerConflictProps {
  readonly conflict: Conflict | undefined;
  /** Verifies again, trusting the current log. */
  readonly onReset: () => void;
}

function LedgerConflict({ conflict, onReset }: LedgerConflictProps & { readonly conflict: Conflict }) {
  return (
    <Notice
      tone="bad"
      title="The public log conflicts with earlier data"
      actions={
        <Button kind="small" onClick={onReset}>
          Trust the current log
        </Button>
      }
    >
      <p>{TEXTS[conflict.kind]}</p>
      <p>
        Do not rely on answers of this service until its operator has explained the conflict. Trusting the current log
        discards what this browser has stored about it.
      </p>
    </Notice>
  );
}
