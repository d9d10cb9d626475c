// Reads records concurrently into one batch.
import type { RecordReading } from '@strata/advisories';
import { RecordBatch } from './source.ts';

const AT_ONCE = 4;

/** The batch keeps the given order. Rejects with the first error, after all reads in progress have ended. */
export async function readConcurrently<T>(
  all: readonly T[],
  read: (each: T) => Promise<RecordReading>,
): Promise<RecordBatch> {
  const readings: RecordReading[] = [];
  const waiting = [...all.entries()].reverse();
  const worker = async () => {
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [position, each] = next;
        readings[position] = await read(each);
      }
    } finally {
      // A failed worker stops the other workers after their current record.
      waiting.length = 0;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  const batch = new RecordBatch();
  for (const reading of readings) batch.add(reading);
  return batch;
}
