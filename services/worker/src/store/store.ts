// The worker's store: one file, with the receipts of what it has served.
import { dropForeignTables, type Migrations, nothing, openDatabase } from '@strata/db';
import { createSegments, indexSegmentProofs, type Segments, SegmentTable, type SegmentTables } from '@strata/segments';

export interface WorkerStore extends AsyncDisposable {
  readonly segments: Segments;
}

/** By number. Until 018 all services had one list: the migrations of other services' tables are kept by name, and do nothing. */
const migrations: Migrations = {
  '001-initial': nothing,
  '002-sets-and-streams': nothing,
  '003-changes-by-category': nothing,
  '004-answers': nothing,
  '005-advisories': nothing,
  '006-feeds': nothing,
  '007-segments': createSegments,
  '008-key-priority': nothing,
  '009-segment-proofs': indexSegmentProofs,
  '010-changes-by-confirmation': nothing,
  '011-scan-work': nothing,
  '012-counters': nothing,
  '013-ledger': nothing,
  '014-report-views': nothing,
  '015-day-counts': nothing,
  '016-on-demand': nothing,
  '017-changes-between': nothing,
  '018-advisory-counts': nothing,
  '019-worker-tables': (db) => dropForeignTables(db, ['segments']),
};

/** Opens the store in a file, creating it. Rejects with StoreError if the file is damaged or was written by a newer version. */
export async function openStore(file: string): Promise<WorkerStore> {
  const { db } = await openDatabase<SegmentTables>(`sqlite:${file}`, migrations);
  return { segments: new SegmentTable(db), [Symbol.asyncDispose]: () => db.destroy() };
}
