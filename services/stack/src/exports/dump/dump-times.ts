// When the last dump was written, and when one failed: kept in the store, since another process may report it.
import { z } from 'zod';
import type { Store } from '../../store/index.ts';

const NAME = 'dump';

const Times = z.object({
  /** RFC 3339. */
  written_at: z.iso.datetime().nullable(),
  /** Of the last attempt, if it failed. */
  failed_at: z.iso.datetime().nullable(),
});
type DumpTimes = z.infer<typeof Times>;

type Texts = Pick<Store['texts'], 'get' | 'put'>;

export async function dumpTimes(texts: Texts): Promise<DumpTimes> {
  const text = await texts.get(NAME);
  return text === undefined ? { written_at: null, failed_at: null } : Times.parse(JSON.parse(text));
}

export async function noteDump(texts: Texts, outcome: 'written' | 'failed', at: Date): Promise<void> {
  const before = await dumpTimes(texts);
  const time = at.toISOString();
  const after: DumpTimes =
    outcome === 'written' ? { written_at: time, failed_at: null } : { ...before, failed_at: time };
  await texts.put(NAME, JSON.stringify(after));
}
