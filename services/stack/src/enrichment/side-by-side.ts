// Records that are asked for one by one: some at a time, in one batch.
import type { RecordReading } from '@strata/advisories';
import { RecordBatch } from './source.ts';

const AT_ONCE = 4;

/** The batch is in the order given. Rejects as the first that rejects, when none is under way any more. */
export async function readSideBySide<T>(
  all: readonly T[],
  read: (each: T) => Promise<RecordReading>,
): Promise<RecordBatch> {
  const readings: RecordReading[] = [];
  const waiting = [...all.entries()].reverse();
  const worker = async () => {
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [place, each] = next;
        readings[place] = await read(each);
      }
    } finally {
      // One that ends early ends the others after what they are at.
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
