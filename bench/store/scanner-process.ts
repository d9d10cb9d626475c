// A scanner of the suite round-trips: makes scans of names of its own, and records them in batches when it is asked to.
import { openStore, type ScanRecord } from '@strata/stack/store';
import { confirm, day, GOOGLE, scanOf } from '../../services/stack/src/store/test/scans.ts';
import { childArgument, reportReady } from '../measure.ts';

/** Scans to be prepared; recorded at the next message, which has none. */
export interface ScannerTask {
  readonly prefix: string;
  readonly batches: number;
  readonly size: number;
}

const { url } = childArgument<{ readonly url: string }>();
const store = await openStore(url);
let prepared: ScanRecord[][] = [];
process.on('message', async (task: Partial<ScannerTask>) => {
  if (task.prefix === undefined) await recordAll();
  // All for the first time, and then again, which sees the same.
  else {
    prepared = [...batchesAt(day(0), task), ...batchesAt(day(1), task)];
    const names = prepared.flatMap((batch) => batch.map(({ profile }) => profile.domain));
    await store.domains.add(names, { source: 'bench' });
  }
  process.send?.({});
});

async function recordAll(): Promise<void> {
  for (const batch of prepared)
    for (const result of await store.recordScans(batch, confirm)) if (result.status === 'rejected') throw result.reason;
}

const batchesAt = (at: string, { prefix, batches = 0, size = 0 }: Partial<ScannerTask>) =>
  Array.from({ length: batches }, (_, n) =>
    Array.from({ length: size }, (_, i) => scanOf(`${prefix}-${n}-${i}.com`, at, GOOGLE)),
  );

reportReady({}, async () => store[Symbol.asyncDispose]());
