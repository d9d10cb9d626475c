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

/**
 * Ids of the ended jobs to remove: the old ones, those above the limit of their key, and while all together are above a
 * limit, the oldest of the key that has most. `jobs` are oldest first.
 */
export function surplusOf(jobs: readonly Job[], now: Date): string[] {
  const oldest = new Date(now.getTime() - KEPT_MS).toISOString();
  const isOld = (job: Job) => isEnded(job) && (job.ended_at ?? '') < oldest;
  const surplus = jobs.filter(isOld).map(({ id }) => id);
  const byKey = [...Map.groupBy(jobs, ({ key_id }) => key_id).values()].map((own) => own.filter((job) => !isOld(job)));
  const removeFrom = (own: Job[]) => surplus.push(...own.splice(own.findIndex(isEnded), 1).map(({ id }) => id));
  for (const own of byKey) while (own.length > MAX_OF_KEY && own.some(isEnded)) removeFrom(own);
  for (const { of, max } of LIMITS_OF_ALL)
    while (sum(byKey.map(of)) > max) {
      const [largest] = byKey.filter((own) => own.some(isEnded)).sort((a, b) => of(b) - of(a));
      if (!largest) break;
      removeFrom(largest);
    }
  return surplus;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
/** What a key has, and the limit for all keys. */
const LIMITS_OF_ALL = [
  { of: (own: readonly Job[]) => own.length, max: MAX_JOBS },
  { of: (own: readonly Job[]) => sum(own.map(({ file }) => file?.size_bytes ?? 0)), max: MAX_BYTES },
];
