// How many jobs are kept, for each key and for all, and which ones make space for another.
import { Refusal } from '@strata/http';
import { isEnded, type Job, KEPT_MS } from './job.ts';

/** Of one key: jobs in all, and unfinished ones. */
const MAX_OF_KEY = 10;
const MAX_UNFINISHED_OF_KEY = 3;
/** Of all keys. */
const MAX_JOBS = 200;
const MAX_UNFINISHED = 50;
/** Of all complete files. */
const MAX_BYTES = 4 * 1024 ** 3;

const RETRY = { headers: { 'retry-after': '30' } };

/** Refuses a further job of the key while too many are unfinished. */
export function refuseExcess(jobs: readonly Job[], keyId: string): void {
  const unfinished = jobs.filter((job) => !isEnded(job));
  if (unfinished.filter(({ key_id }) => key_id === keyId).length >= MAX_UNFINISHED_OF_KEY)
    throw new Refusal(
      'quota_exceeded',
      `${MAX_UNFINISHED_OF_KEY} jobs of this key are unfinished. Wait for one.`,
      RETRY,
    );
  if (unfinished.length >= MAX_UNFINISHED) throw new Refusal('unavailable', 'Too many jobs are waiting.', RETRY);
}

/** Ids of the finished jobs to remove: the old ones, and the oldest above a limit. `jobs` are oldest first. */
export function surplusOf(jobs: readonly Job[], now: Date): string[] {
  const oldest = new Date(now.getTime() - KEPT_MS).toISOString();
  const ofKey = new Map<string, number>();
  let [kept, bytes] = [0, 0];
  const surplus: string[] = [];
  for (const job of jobs.toReversed()) {
    const ofItsKey = (ofKey.get(job.key_id) ?? 0) + 1;
    const size = job.file?.size_bytes ?? 0;
    const isOver = kept >= MAX_JOBS || ofItsKey > MAX_OF_KEY || bytes + size > MAX_BYTES;
    if (isEnded(job) && (isOver || (job.ended_at ?? '') < oldest)) surplus.push(job.id);
    else {
      kept += 1;
      bytes += size;
      ofKey.set(job.key_id, ofItsKey);
    }
  }
  return surplus;
}
