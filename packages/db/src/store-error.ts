// Database errors: SQLite's result codes and PostgreSQL's SQLSTATEs are mapped to a few codes, each with a message; the cause is kept.

const SENTENCES = {
  corrupt: 'The database is damaged. Restore a backup, or run `PRAGMA integrity_check` on a copy.',
  'not-a-database': 'The file is not a Strata database.',
  'names-taken':
    'The database has tables of another service of Strata, or of another program: check its address, and give each service its own schema or database.',
  'read-only':
    'The database cannot be written: check the permissions of the file and of its directory, or that the server is not a replica.',
  'disk-full': 'The disk is full: writes fail.',
  'cannot-open': 'The database file cannot be opened: check that the directory exists and may be written.',
  busy: 'Another process kept the database locked for too long.',
  'io-error': 'The disk reported an error while the database was read or written.',
  unreachable:
    'The database server does not respond: check its address, that it runs, and that it accepts connections.',
  'connection-lost':
    'The connection to the database server was lost: the current transaction was not written, or its outcome is unknown.',
  'too-many-connections': 'The database server accepts no more connections: raise its limit or reduce the pool sizes.',
  'too-slow': 'The database server took too long for a statement.',
  refused: 'The database server rejected the user or the password.',
  'not-allowed':
    'The database user lacks privileges: make it the owner of the database, or grant it CREATE on its schema.',
  'no-database': 'The database, or the schema in it, does not exist.',
  conflict: 'Concurrent transactions changed the same rows repeatedly.',
  'not-empty': 'The database already contains a store: use an empty one.',
  'in-use': 'Other processes of Strata are connected to the database: stop them first.',
  'copy-differs': 'The copy differs from what was written: nothing was kept.',
  superseded: 'Another process has taken over: nothing was written.',
  'newer-version': 'The database was written by a newer version of Strata: update this installation.',
} as const;

export type StoreErrorCode = keyof typeof SENTENCES;

/** An error of the database itself; `message` is suitable for users. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
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

/** SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html: complete codes, or their class. */
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

/** System errors of Node: the server was not reached, or the connection was lost. */
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

/** pg's message for a server that does not respond. */
const NO_ANSWER = /Query read timeout/;
/** Errors of pg that have no code, by message. */
const BY_MESSAGE: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/timeout (?:exceeded when trying to connect|expired)/, 'unreachable'],
  [/Connection terminated due to connection timeout/, 'unreachable'],
  [/Connection terminated|Client (?:has encountered a connection error|was closed)/, 'connection-lost'],
  [NO_ANSWER, 'too-slow'],
];

/** Whether a table cannot be created because another program has one of that name. */
export function isNameTaken(error: unknown): boolean {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return code === '42P07' || code === '42710';
}

/** Whether PostgreSQL refused a row because another one has its id. */
export const isDuplicate = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === '23505';

/** Whether another process has taken over what was to be written: nothing was. */
export const isSuperseded = (error: unknown): boolean => error instanceof StoreError && error.code === 'superseded';

/** The StoreError of a driver's error, or the error itself if it is not a known database error. */
export function storeErrorOf(error: unknown): unknown {
  const code = codeOf(error);
  return code ? new StoreError(code, { cause: error }) : error;
}

/** Serialization failure, deadlock, lock time-out: the server rolled the transaction back, and it may be retried. */
const RETRYABLE: ReadonlySet<unknown> = new Set(['40001', '40P01', '55P03']);

/** Whether a transaction lost against concurrent ones. PostgreSQL only: a retry on SQLite would block the process. */
export function isRetryable(error: unknown): boolean {
  return error instanceof StoreError && RETRYABLE.has((error.cause as { readonly code?: unknown })?.code);
}

/** Whether the connection of the error is unusable. */
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
  // A prepared statement whose tables another process has migrated: a new connection prepares it again.
  if (code === '0A000' && routine === 'RevalidateCachedQuery') return 'connection-lost';
  if (typeof code === 'string') return BY_SYSTEM[code] ?? BY_STATE[code] ?? BY_STATE[code.slice(0, 2)];
  return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1];
}
