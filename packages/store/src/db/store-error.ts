// Database trouble in words: SQLite's result codes and PostgreSQL's SQLSTATEs become a few codes with a sentence each; the cause is kept.

const SENTENCES = {
  corrupt: 'The database is damaged. Restore a backup, or run `PRAGMA integrity_check` on a copy.',
  'not-a-database': 'The file is not a Strata database.',
  'names-taken':
    'The database holds tables of another program under names that Strata needs: give Strata a schema or a database of its own.',
  'read-only':
    'The database cannot be written: check the permissions of the file and of its directory, or that the server is not a replica.',
  'disk-full': 'The disk is full: nothing more can be written.',
  'cannot-open': 'The database file cannot be opened: check that the directory exists and may be written.',
  busy: 'Another process kept the database locked for too long.',
  'io-error': 'The disk gave an error while the database was read or written.',
  unreachable: 'The database server does not answer: check its address, that it runs, and that it takes connections.',
  'connection-lost':
    'The connection to the database server broke: what was under way was not written, or is not known to be.',
  'too-many-connections':
    'The database server takes no more connections: raise its limit or lower the size of the pools.',
  'too-slow': 'The database server took too long for a statement.',
  refused: 'The database server refuses the user or the password.',
  'not-allowed':
    'The database server lets this user do too little: make it the owner of the database, or give it CREATE on its schema.',
  'no-database': 'The database server has no database, or the database no schema, of this name.',
  conflict: 'Others changed the same rows at the same time, again and again.',
  'not-empty': 'There is a store in the database already: give an empty one.',
  'copy-differs': 'What was read again from the copy differs from what was written: nothing of it was kept.',
  superseded: 'Another process does this work now: nothing was written.',
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

/** SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html: whole codes, else their class. */
const BY_STATE: Readonly<Record<string, StoreErrorCode>> = {
  '08': 'connection-lost',
  '25006': 'read-only',
  '25P03': 'connection-lost',
  '25P04': 'connection-lost',
  '28': 'refused',
  '3D000': 'no-database',
  '3F000': 'no-database',
  '40001': 'conflict',
  '40P01': 'conflict',
  '42501': 'not-allowed',
  '53100': 'disk-full',
  '53200': 'io-error',
  '53300': 'too-many-connections',
  '55P03': 'busy',
  '57014': 'too-slow',
  '57P01': 'connection-lost',
  '57P02': 'connection-lost',
  '57P03': 'unreachable',
  '57P05': 'connection-lost',
  '58030': 'io-error',
  XX001: 'corrupt',
  XX002: 'corrupt',
};

/** Of Node, where the server was never reached, or was lost on the way. */
const BY_SYSTEM: Readonly<Record<string, StoreErrorCode>> = {
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOENT: 'unreachable',
  ETIMEDOUT: 'connection-lost',
  ECONNRESET: 'connection-lost',
  EPIPE: 'connection-lost',
};

/** What pg says of a server that stands still. */
const NO_ANSWER = /Query read timeout/;
/** What pg says in words alone. */
const BY_MESSAGE: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/timeout (?:exceeded when trying to connect|expired)/, 'unreachable'],
  [/Connection terminated due to connection timeout/, 'unreachable'],
  [/Connection terminated|Client (?:has encountered a connection error|was closed)/, 'connection-lost'],
  [NO_ANSWER, 'too-slow'],
];

/** Whether a table could not be made because another program has one of that name. */
export function isNameTaken(error: unknown): boolean {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return code === '42P07' || code === '42710';
}

/** The StoreError that an error of a driver amounts to, or the error itself when it is a bug of ours. */
export function storeErrorOf(error: unknown): unknown {
  const code = codeOf(error);
  return code ? new StoreError(code, { cause: error }) : error;
}

/** Serialisation failure, deadlock, a lock that did not come in time: the server took the transaction back, and all of it may be run again. */
const LOST_TO_OTHERS: ReadonlySet<unknown> = new Set(['40001', '40P01', '55P03']);

/** Whether a transaction failed only because others had what it needed. Of PostgreSQL: SQLite's waits stop the whole process. */
export function isLostToOthers(error: unknown): boolean {
  return error instanceof StoreError && LOST_TO_OTHERS.has((error.cause as { readonly code?: unknown })?.code);
}

/** Whether the connection that the error came from is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === 'connection-lost' || code === 'unreachable' || (error instanceof Error && NO_ANSWER.test(error.message))
  );
}

function codeOf(error: unknown): StoreErrorCode | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, code, routine } = error as Partial<Record<'errcode' | 'code' | 'routine', unknown>>;
  if (typeof errcode === 'number') return BY_RESULT[errcode & 0xff];
  // A prepared statement whose tables got other columns: another process brought them up to date. A new connection knows them.
  if (code === '0A000' && routine === 'RevalidateCachedQuery') return 'connection-lost';
  if (typeof code === 'string') return BY_SYSTEM[code] ?? BY_STATE[code] ?? BY_STATE[code.slice(0, 2)];
  return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1];
}
