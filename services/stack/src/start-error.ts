// Errors that prevent the start, for the operator.
import { StartError } from '@strata/http';

/** A StartError for system errors that the operator can fix; other errors are returned unchanged. */
export function startErrorOf(error: unknown, what: { readonly doing: string; readonly advice: string }): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  const reason = reasons[code];
  return reason ? new StartError(`cannot ${what.doing}: ${reason}; ${what.advice}`, { cause: error }) : error;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the host name is unknown',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EEXIST: 'a file with this name exists',
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'it does not exist',
};
