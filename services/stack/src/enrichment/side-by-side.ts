// Records that are asked for one by one: some at a time, in one batch.
import type { RecordReading } from '@strata/advisories';
import { RecordBatch } from './source.ts';

const AT_ONCE = 4;

/** Rejects as the first that rejects, when none is under way any more. */
export async function readSideBySide<T>(
  all: readonly T[],
  read: (each: T) => Promise<RecordReading>,
): Promise<RecordBatch> {
  const batch = new RecordBatch();
  const waiting = [...all].reverse();
  const worker = async () => {
    try {
      for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) batch.add(await read(each));
    } finally {
      // One that ends early ends the others after what they are at.
      waiting.length = 0;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return batch;
}
