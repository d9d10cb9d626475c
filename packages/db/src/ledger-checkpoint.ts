// The newest checkpoint of a ledger that is not in this database: a ledger that loses leaves does not lose this copy.
import type { TextTable } from './settings.ts';

export function ledgerCheckpoint(texts: TextTable, origin: string) {
  const name = checkpointName(origin);
  return {
    /** The signed note; undefined before the first write. */
    read: () => texts.get(name),
    write: (note: string) => texts.put(name, note),
  };
}

/** The key in `settings`: a log with another origin is another log. */
export const checkpointName = (origin: string): string => `ledger-checkpoint ${origin}`;
