// Scans, many in one transaction: each with the intervals it moves, the changes it confirms, the events that tell of it.
import type { ServiceChange } from '@strata/detect';
import type { Kysely, QueryResult } from 'kysely';
import { isPostgres } from '../../db/dialects/postgres-dialect.ts';
import { together } from '../../db/statements/together.ts';
import { StoreError } from '../../db/store-error.ts';
import { sendThenWrite, writeTransaction } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';
import {
  type KnownDomain,
  type PlannedScan,
  type PlanOptions,
  planScan,
  type RecordOptions,
  type ScanRecord,
} from './plan-scan.ts';
import { prepareScanStatements, readKnown, type ScanStatements } from './scan-statements.ts';
import { scanWrites } from './write-plans.ts';

export interface RecordedScan {
  readonly changes: readonly (ServiceChange & { readonly id: string })[];
  /** Whether the answer about the domain differs in anything but the rulebook, the time of the scan and of the last sight. */
  readonly isChanged: boolean;
  readonly isFirst: boolean;
}

export type ScanResult = PromiseSettledResult<RecordedScan>;
export type RecordScans = (scans: readonly ScanRecord[], options: RecordOptions) => Promise<readonly ScanResult[]>;

/** Others wait for a transaction, and its rows are in memory as JSON. */
const MAX_BATCH = 256;
/** Times that a batch is planned before it has the lock: domains that others move again and again are planned under it. */
const MAX_PLANNED_BEFORE = 3;

/** One scan of a batch, and what follows from it by what was known when it was planned. */
interface Look {
  readonly scan: ScanRecord;
  readonly known: KnownDomain;
  readonly plan: PlannedScan | { readonly error: unknown };
}

/** `rescanAfterMs` is the usual time between two scans of a domain. */
export function createRecorder(
  db: Kysely<Database>,
  { rescanAfterMs }: { readonly rescanAfterMs: number },
): RecordScans {
  const statements = prepareScanStatements(db);
  return async (scans, options) => {
    const results: ScanResult[] = [];
    for (const batch of batchesOf(scans))
      results.push(...(await recordBatch(db, statements, batch, { ...options, rescanAfterMs })));
    return results;
  };
}

/** In their order, and no domain twice in one: what the second look finds is what the first has left. */
function* batchesOf(scans: readonly ScanRecord[]): Generator<ScanRecord[]> {
  let batch = new Map<string, ScanRecord>();
  for (const scan of scans) {
    if (batch.has(scan.profile.domain) || batch.size === MAX_BATCH) {
      yield [...batch.values()];
      batch = new Map();
    }
    batch.set(scan.profile.domain, scan);
  }
  if (batch.size > 0) yield [...batch.values()];
}

async function recordBatch(
  db: Kysely<Database>,
  statements: ScanStatements,
  batch: readonly ScanRecord[],
  options: PlanOptions,
): Promise<ScanResult[]> {
  try {
    return await recordTogether(db, statements, batch, options);
  } catch (error) {
    const isTroubleOfAll = error instanceof StoreError;
    if (isTroubleOfAll || batch.length === 1) return batch.map(() => ({ status: 'rejected', reason: error }));
    // The database refuses a row of one of them, and took all of them back: the others are recorded without it.
    const half = Math.ceil(batch.length / 2);
    const first = await recordBatch(db, statements, batch.slice(0, half), options);
    return [...first, ...(await recordBatch(db, statements, batch.slice(half), options))];
  }
}

/**
 * On PostgreSQL everything but the writing comes before it, and the writing is one round trip: the server takes the writers' lock when it
 * has all rows, and releases it before it answers. Where others have moved a domain since it was read, nothing is written, and all is planned anew.
 */
async function recordTogether(
  db: Kysely<Database>,
  statements: ScanStatements,
  batch: readonly ScanRecord[],
  options: PlanOptions,
): Promise<ScanResult[]> {
  // In SQLite no other process writes while this one plans, so that planning before would only read twice.
  for (let tries = isPostgres(db) ? MAX_PLANNED_BEFORE : 0; tries > 0; tries -= 1) {
    const looks = await planAll(db, statements, batch, options);
    const { writes, resultsOf } = writesOf(statements, looks);
    if (writes.length === 0) return resultsOf([]);
    const revisions = looks.map(({ scan, known }) => [scan.profile.domain, known.row?.revision ?? null]);
    const queries = [statements.checkRevisions(revisions), ...writes.map(({ query }) => query)] as const;
    const [check, ...results] = await sendThenWrite(db, statements.sendRows(writes), queries);
    if (check.rows[0]?.is_outdated === 'no') return resultsOf(results);
  }
  const { resultsOf, results } = await writeTransaction(db, async (tx) => {
    const { writes, resultsOf } = writesOf(statements, await planAll(tx, statements, batch, options));
    const sending = statements.sendRows(writes);
    const results = await together(tx, [...sending, ...writes.map(({ query }) => query)], { isLast: true });
    return { resultsOf, results: results.slice(sending.length) };
  });
  return resultsOf(results);
}

async function planAll(
  db: Kysely<Database>,
  statements: ScanStatements,
  scans: readonly ScanRecord[],
  options: PlanOptions,
): Promise<Look[]> {
  const known = await readKnown(db, statements, scans, options);
  return scans.map((scan, place) => planned(scan, known[place] as KnownDomain, options));
}

function planned(scan: ScanRecord, known: KnownDomain, options: PlanOptions): Look {
  try {
    return { scan, known, plan: planScan(known, scan, options) };
  } catch (error) {
    return { scan, known, plan: { error } };
  }
}

/** What is written of those that could be planned, and what becomes of each. */
function writesOf(statements: ScanStatements, looks: readonly Look[]) {
  const { writes, changesOf } = scanWrites(
    statements,
    looks.flatMap(({ scan, known, plan }) => ('error' in plan ? [] : [{ domain: scan.profile.domain, known, plan }])),
  );
  const resultsOf = (results: readonly QueryResult<unknown>[]): ScanResult[] => {
    const written = changesOf(results).values();
    return looks.map(({ plan }) => {
      if ('error' in plan) return { status: 'rejected', reason: plan.error };
      const { isFirst, difference } = plan;
      const changes = written.next().value ?? [];
      return { status: 'fulfilled', value: { changes, isFirst, isChanged: difference !== undefined } };
    });
  };
  return { writes, resultsOf };
}
