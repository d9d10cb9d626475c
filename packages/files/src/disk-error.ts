// Errors of the file system, as sentences for an operator.

/** A system call failed; `message` says what was being done, and why it failed. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  /** Of the system: `ENOSPC` and so on. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Awaits work on files; rejects with DiskError. */
export async function onDisk<T>(doing: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new DiskError(code, `${doing}: ${reasons[code] ?? `system error ${code || cause}`}`, { cause });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file exceeds a limit of the file system or of this process',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an error',
  EISDIR: 'a directory has this path',
  EEXIST: 'a file has the path of a directory',
  ENOTDIR: 'a file has the path of a directory',
  ENAMETOOLONG: 'the name is too long',
};

/** `3.2 GB`: decimal units. */
export function formatSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toFixed(1)} ${units[step]}`;
}
