// What can go wrong with a log, by code, so that a caller can say it in its own words.
import { holderOf } from '@strata/db';
import { deniedText } from './files/permission.ts';
import { systemCode } from './files/system-code.ts';

/**
 * Of a log on disk, and of one in a database:
 * - `locked`: another process writes here
 * - `disk-full`, `read-only`, `io`: the system refused a read or a write
 * - `corrupt-journal`, `corrupt-tile`, `corrupt-checkpoint`: bytes on disk are not what was written
 * - `lost-leaves`: the disk holds less than a checkpoint that was published
 * - `wrong-origin`: the directory belongs to another log
 * - `wrong-key`: no key of this node signed the log that the database holds
 * - `forked`: the database holds another tree than was published
 * - `moved`, `not-moved`: the directory's log goes on in a database, or has yet to be brought there
 * - `leaf-too-large`, `closed`: the caller's mistake
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

/** A failure of the log; `message` is a sentence for an operator, `cause` the system's error. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const CODES: Readonly<Record<string, LogErrorCode>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full', // a file-size limit of the process: as full as a disk to us
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
};

/** The log's error for a system error met while `doing` something; a LogError passes through. */
export function logErrorFrom(cause: unknown, doing: string): LogError {
  if (cause instanceof LogError) return cause;
  const code = CODES[systemCode(cause) ?? ''] ?? 'io';
  const { path } = cause as { readonly path?: string };
  const denied = path === undefined ? undefined : deniedText(path, cause);
  const why = denied ?? (code === 'io' ? 'the system refused' : code.replace('-', ' '));
  return new LogError(code, `${doing}: ${why}`, { cause });
}

/** `file` is a lock that another holder has. */
export const lockedError = (file: string): LogError => new LogError('locked', `${file} is held by ${holderOf(file)}`);

/** A log keeps its name for ever: what is there is of another one than the settings say. */
export const otherOriginText = (where: string, there: string, wanted: string): string =>
  `${where} is of the log ${there}, not ${wanted}: set the origin back to ${there}, or start a log with the new name elsewhere, with an empty data directory and database`;
