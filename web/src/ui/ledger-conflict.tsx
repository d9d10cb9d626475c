// The notice where the public log is not the one that this browser knows.
import type { Conflict } from '@strata/client';
import { Notice } from './states.tsx';

const TEXTS: Readonly<Record<Conflict['kind'], string>> = {
  fork: 'The log has two histories: entries that it showed to this browser before are not in the one that it shows now.',
  rollback:
    'The log has lost entries that it showed to this browser before, as happens when a service is restored from an old backup.',
  'other-key':
    'The log is signed with another key than the one that this browser knows, and the known key does not vouch for it.',
  'other-ledger': 'This service shows a log of another name than before.',
  unproved: 'The log does not prove that it still holds all that it showed to this browser before.',
  unreadable: 'What this browser keeps about the log cannot be read.',
};

interface LedgerConflictProps {
  readonly conflict: Conflict;
  /** Checks again, and starts over with the log as it is. */
  readonly onReset: () => void;
}

export function LedgerConflict({ conflict: { kind }, onReset }: LedgerConflictProps) {
  const reset = (
    <button className="button small" type="button" onClick={onReset}>
      Start over with this log
    </button>
  );
  return (
    <Notice tone="bad" title="This is not the public log that this browser knows" actions={reset}>
      <p>{TEXTS[kind]}</p>
      <p>
        Do not rely on what this service answers until its operator has explained it. Starting over discards what this
        browser has stored about the log.
      </p>
    </Notice>
  );
}
