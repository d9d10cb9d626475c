// The warning shown if the public log conflicts with what this browser has stored about it.
import type { Conflict } from '@strata/client';
import { Notice } from './states.tsx';

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
  readonly conflict: Conflict;
  /** Verifies again, trusting the current log. */
  readonly onReset: () => void;
}

export function LedgerConflict({ conflict: { kind }, onReset }: LedgerConflictProps) {
  const reset = (
    <button className="button small" type="button" onClick={onReset}>
      Trust the current log
    </button>
  );
  return (
    <Notice tone="bad" title="The public log conflicts with earlier data" actions={reset}>
      <p>{TEXTS[kind]}</p>
      <p>
        Do not rely on answers of this service until its operator has explained the conflict. Trusting the current log
        discards what this browser has stored about it.
      </p>
    </Notice>
  );
}
