// Reads records concurrently into one batch.
import type { RecordReading } from '@strata/advisories';
import { Semaphore } from '@strata/limits';
import { RecordBatch } from './source.ts';

const AT_ONCE = 4;

/** The batch keeps the given order. Rejects with the first error, after all reads in progress have ended. */
export async function readConcurrently<T>(
  all: readonly T[],
  read: (each: T) => Promise<RecordReading>,
): Promise<RecordBatch> {
  const slots = new Semaphore(AT_ONCE);
  const failed = new AbortController();
  const readOne = async (each: T) => {
    using _slot = await slots.enter(failed.signal);
    return await read(each).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  };
  const ended = await Promise.allSettled(all.map(readOne));
  failed.signal.throwIfAborted();
  const batch = new RecordBatch();
  for (const end of ended) if (end.status === 'fulfilled') batch.add(end.value);
  return batch;
}
