// The worker's store: one file, with the receipts of what it has served.
import { dropForeignTables, type Migrations, openDatabase, withOldNames } from '@strata/db';
import { createSegments, indexSegmentProofs, type Segments, SegmentTable, type SegmentTables } from '@strata/segments';

export interface WorkerStore extends AsyncDisposable {
  readonly segments: Segments;
}

/** By number. A released migration is never changed. */
const migrations: Migrations = withOldNames({
  '007-segments': createSegments,
  '009-segment-proofs': indexSegmentProofs,
  '019-worker-tables': (db) => dropForeignTables(db, ['segments']),
});

/** Opens the store in a file, creating it. Rejects with StoreError if the file is damaged or was written by a newer version. */
export async function openStore(file: string): Promise<WorkerStore> {
  const { db } = await openDatabase<SegmentTables>(`sqlite:${file}`, migrations);
  return { segments: new SegmentTable(db), [Symbol.asyncDispose]: () => db.destroy() };
}
