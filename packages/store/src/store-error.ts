// Database trouble in words: SQLite's result codes become a few codes with a sentence each; the cause is kept.

const SENTENCES = {
  corrupt: 'The database is damaged. Restore a backup, or run `PRAGMA integrity_check` on a copy.',
  'not-a-database': 'The file is not a Strata database.',
  'read-only': 'The database cannot be written: check the permissions of the file and of its directory.',
  'disk-full': 'The disk is full: nothing more can be written.',
  'cannot-open': 'The database file cannot be opened: check that the directory exists and may be written.',
  busy: 'Another process kept the database locked for too long.',
  'io-error': 'The disk gave an error while the database was read or written.',
  'newer-version': 'The database was made by a newer version of Strata: update this one.',
} as const;

export type StoreErrorCode = keyof typeof SENTENCES;

/** Trouble with the database itself; `message` is fit for a user. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, options: { readonly cause?: unknown } = {}) {
    super(SENTENCES[code], options);
    this.code = code;
  }
}

/** Primary result codes, https://www.sqlite.org/rescode.html */
const BY_RESULT: Readonly<Record<number, StoreErrorCode>> = {
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'io-error',
  11: 'corrupt',
  13: 'disk-full',
  14: 'cannot-open',
  26: 'not-a-database',
};

/** The StoreError that an error thrown by SQLite amounts to, or the error itself when it is a bug of ours. */
export function storeErrorOf(error: unknown): unknown {
  const result = (error as { errcode?: unknown } | null)?.errcode;
  const code = typeof result === 'number' ? BY_RESULT[result & 0xff] : undefined;
  return code ? new StoreError(code, { cause: error }) : error;
}
