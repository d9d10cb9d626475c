// Why the service cannot start, in a sentence for whoever runs it.

/** The operator's to mend: a port in use, a directory that cannot be made. The cause is kept. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** `error` in words when it is trouble of the system that the operator can mend, else as it is. */
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
  EEXIST: 'a file is in its place',
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'it does not exist',
};
