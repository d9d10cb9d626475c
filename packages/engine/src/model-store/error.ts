// Errors of the model store, with messages for the user who requested the model.

export type ModelStoreErrorCode =
  /** The reference, or a setting, is invalid. */
  | 'bad-reference'
  | 'not-found'
  /** Gated, private, or not accessible with this token. */
  | 'forbidden'
  /** Several files match; the message lists them. */
  | 'ambiguous'
  | 'network'
  /** The bytes are not the announced model. */
  | 'corrupt'
  | 'disk'
  /** Another download of the same file is in progress. */
  | 'busy';

export class ModelStoreError extends Error {
  override readonly name = 'ModelStoreError';
  readonly code: ModelStoreErrorCode;
  /** Of a program that ends with this error; 2 for a wrong reference. */
  readonly exitCode: 1 | 2;

  constructor(code: ModelStoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.exitCode = code === 'bad-reference' ? 2 : 1;
  }
}

/** Awaits file system work; a system error becomes `disk`, with a readable reason. */
export async function onDisk<T>(doing: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new ModelStoreError('disk', `${doing}: ${reasons[code] ?? `system error ${code || cause}`}`, {
      cause,
    });
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
