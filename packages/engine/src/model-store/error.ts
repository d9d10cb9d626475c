// What can go wrong between a model's reference and its file, in words for the person who asked for it.

export type ModelStoreErrorCode =
  /** The reference, or a setting, is not one. */
  | 'bad-reference'
  | 'not-found'
  /** Gated, private, or refused to this token. */
  | 'forbidden'
  /** Several files fit; the message lists them. */
  | 'ambiguous'
  | 'network'
  /** The bytes are not the model that was promised. */
  | 'corrupt'
  | 'disk'
  /** Another download of the same file is under way. */
  | 'busy';

export class ModelStoreError extends Error {
  override readonly name = 'ModelStoreError';
  readonly code: ModelStoreErrorCode;

  constructor(code: ModelStoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Awaits file work; what the system refuses becomes `disk`, with the reason in words. */
export async function onDisk<T>(doing: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new ModelStoreError('disk', `${doing}: ${reasons[code] ?? `the system refused (${code || cause})`}`, {
      cause,
    });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file system, or a limit of this process, allows no file so large',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an error',
  EISDIR: 'a folder is in the way',
  ENOTDIR: 'a file is in the way of a folder',
  ENAMETOOLONG: 'the name is too long',
};

/** `3.2 GB`, by thousands, as disks are sold. */
export function sizeInWords(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toFixed(1)} ${units[step]}`;
}
