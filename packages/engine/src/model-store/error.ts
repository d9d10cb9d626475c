// Errors of the model store, with messages for the user who requested the model.
import { DiskError } from '@strata/files';

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

/** Rejects with a DiskError as `disk`. */
export function refuseDiskError(error: unknown): never {
  throw error instanceof DiskError ? new ModelStoreError('disk', error.message, { cause: error }) : error;
}
