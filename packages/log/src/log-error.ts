// Errors of a log, with codes by which a caller chooses its own message.
import { holderOf } from '@strata/db';
import { deniedText, systemCode } from '@strata/files';

/**
 * For a log in a directory or in a database:
 * - `locked`: another process writes the log
 * - `disk-full`, `read-only`, `io`: a system call failed
 * - `corrupt-journal`, `corrupt-tile`, `corrupt-checkpoint`: stored bytes differ from what was written
 * - `lost-leaves`: fewer leaves are stored than a published checkpoint covers
 * - `wrong-origin`: the directory or database belongs to another log
 * - `wrong-key`: no key of this node signed the log in the database
 * - `forked`: the tree in the database differs from the published one
 * - `moved`, `not-moved`: the log of the directory has moved to a database, or must be moved there first
 * - `leaf-too-large`, `closed`: invalid calls
 */
export type LogErrorCode =
  | 'locked'
  | 'disk-full'
  | 'read-only'
  | 'io'
  | 'corrupt-journal'
  | 'corrupt-tile'
  | 'corrupt-checkpoint'
  | 'lost-leaves'
  | 'wrong-origin'
  | 'wrong-key'
  | 'forked'
  | 'moved'
  | 'not-moved'
  | 'leaf-too-large'
  | 'closed';

/** What an operator can do about an error, where the message does not say it. */
const HINTS: Partial<Readonly<Record<LogErrorCode, string>>> = {
  locked: 'another process of this service uses this data directory; stop it, or set STRATA_DATA to another directory',
  'lost-leaves':
    'check that STRATA_DATA is the directory of the service that uses this database; if it is, published leaves are lost: see "The ledger fails" in docs/operations.md',
};

/** An error of the log; `message` is written for operators, `cause` is the system's error. */
export class LogError extends Error {
  override readonly name = 'LogError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
  readonly code: LogErrorCode;
  readonly hint: string | undefined;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = HINTS[code];
  }
}

const CODES: Readonly<Record<string, LogErrorCode>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full', // the file-size limit of the process
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
};

/** The LogError for a system error during an operation; a LogError is returned unchanged. */
export function logErrorFrom(cause: unknown, doing: string): LogError {
  if (cause instanceof LogError) return cause;
  const code = CODES[systemCode(cause) ?? ''] ?? 'io';
  const { path } = cause as { readonly path?: string };
  const denied = path === undefined ? undefined : deniedText(path, cause);
  const why = denied ?? (code === 'io' ? 'the system call failed' : code.replace('-', ' '));
  return new LogError(code, `${doing}: ${why}`, { cause });
}

/** `file` is a lock that another process holds. */
export const lockedError = (file: string): LogError => new LogError('locked', `${file} is held by ${holderOf(file)}`);

/** The origin of a log never changes: the stored log has another origin than the settings. */
export const otherOriginText = (where: string, actual: string, expected: string): string =>
  `${where} is of the log ${actual}, not ${expected}: set the origin back to ${actual}, or start a log with the new origin elsewhere, with an empty data directory and database`;
