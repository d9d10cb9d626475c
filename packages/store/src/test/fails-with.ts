// What a test expects of trouble with the database.
import { StoreError, type StoreErrorCode } from '../index.ts';

/** Told in words with a code, and with what the driver said as its cause. */
export const failsWith = (code: StoreErrorCode) => (error: unknown) =>
  error instanceof StoreError && error.code === code && error.cause !== undefined;
