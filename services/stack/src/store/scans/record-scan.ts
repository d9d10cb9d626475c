// Records scans in batches, one transaction each: the changed intervals, confirmed changes and events.

import { executePipelined, isPostgres, StoreError, writeInParallel, writeTransaction } from '@strata/db';
import {
  type PlanOptions,
  planScan,
  type RecordOptions,
  type ScanPlan,
  type ScanRecord,
  type ServiceChange,
} from '@strata/detect';
import type { Kysely, QueryResult } from 'kysely';
import type { Database } from '../schema.ts';
import { knownDomain, type StoredDomain } from './scan-rows.ts';
import { prepareScanStatements, readStored, type ScanStatements, type Write } from './scan-statements.ts';
import { scanWrites } from './write-plans.ts';

export interface RecordedScan {
  readonly changes: readonly (ServiceChange & { readonly id: string })[];
  /** Whether the response for the domain differs in anything other than the rulebook and the times of observation. */
  readonly isChanged: boolean;
  readonly isFirst: boolean;
}

export type ScanResult = PromiseSettledResult<RecordedScan>;
export type RecordScans = (scans: readonly ScanRecord[], options: RecordOptions) => Promise<readonly ScanResult[]>;

/** Limits how long a transaction holds its locks, and its rows in memory as JSON. */
const MAX_BATCH = 256;
/** Attempts to plan a batch before acquiring locks; after that it is planned under the writer lock. */
const MAX_PLANNED_BEFORE = 3;

/** A scan of a batch, the stored state that it was planned with, and its plan. */
interface PlannedRecord {
  readonly scan: ScanRecord;
  readonly stored: StoredDomain;
  readonly plan: ScanPlan | { readonly error: unknown };
}

/** `rescanAfterMs` is the usual interval between two scans of a domain. */
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

/** In order, with each domain at most once in a batch: a second scan builds on the result of the first. */
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
    if (error instanceof StoreError || batch.length === 1)
      return batch.map(() => ({ status: 'rejected', reason: error }));
    // The database rejected a row, which rolled all scans back: bisect, so that only the faulty scan is rejected.
    const half = Math.ceil(batch.length / 2);
    const first = await recordBatch(db, statements, batch.slice(0, half), options);
    return [...first, ...(await recordBatch(db, statements, batch.slice(half), options))];
  }
}

/**
 * On PostgreSQL reading and planning precede the write, which takes one round trip: the server acquires locks after it has
 * received all rows, and releases them before it responds. If another process changed a domain in between, nothing is
 * written and the batch is planned again. Batches of different domains wait for each other only to be numbered.
 */
async function recordTogether(
  db: Kysely<Database>,
  statements: ScanStatements,
  batch: readonly ScanRecord[],
  options: PlanOptions,
): Promise<ScanResult[]> {
  // On SQLite no other process writes while this one plans, so planning before the transaction has no benefit.
  for (let tries = isPostgres(db) ? MAX_PLANNED_BEFORE : 0; tries > 0; tries -= 1) {
    const records = await planAll(db, statements, batch, options);
    const { own, numbered, addsDomains, resultsOf } = writesOf(statements, records);
    if (numbered.length === 0) return resultsOf([]);
    const revisions = records.map(({ scan, stored }) => [scan.profile.domain, stored.row?.revision ?? null]);
    const results = await writeInParallel(db, {
      first: statements.sendRows([...own, ...numbered]),
      own: [statements.lockPlanned(revisions), ...queriesOf(own)] as const,
      numbered: queriesOf(numbered),
      // The name and the number of a new domain have no row yet that could be locked.
      isAlone: addsDomains,
    });
    if (results.own[0].rows[0]?.is_outdated === 'no') return resultsOf(results.numbered);
  }
  const { resultsOf, results } = await writeTransaction(db, async (tx) => {
    const { own, numbered, resultsOf } = writesOf(statements, await planAll(tx, statements, batch, options));
    const before = [...statements.sendRows([...own, ...numbered]), ...queriesOf(own)];
    const results = await executePipelined(tx, [...before, ...queriesOf(numbered)], { isLast: true });
    return { resultsOf, results: results.slice(before.length) };
  });
  return resultsOf(results);
}

async function planAll(
  db: Kysely<Database>,
  statements: ScanStatements,
  scans: readonly ScanRecord[],
  options: PlanOptions,
): Promise<PlannedRecord[]> {
  const stored = await readStored(db, statements, scans, options);
  return scans.map((scan, index) => planned(scan, stored[index] as StoredDomain, options));
}

function planned(scan: ScanRecord, stored: StoredDomain, options: PlanOptions): PlannedRecord {
  try {
    return { scan, stored, plan: planScan(knownDomain(stored), scan, options) };
  } catch (error) {
    return { scan, stored, plan: { error } };
  }
}

const queriesOf = (writes: readonly Write[]) => writes.map(({ query }) => query);

/** The writes of all scans that could be planned, and the result of each scan. */
function writesOf(statements: ScanStatements, records: readonly PlannedRecord[]) {
  const { changesOf, ...writes } = scanWrites(
    statements,
    records.flatMap(({ scan, stored, plan }) => ('error' in plan ? [] : [{ scan, stored, plan }])),
  );
  const resultsOf = (results: readonly QueryResult<unknown>[]): ScanResult[] => {
    const written = changesOf(results).values();
    return records.map(({ plan }) => {
      if ('error' in plan) return { status: 'rejected', reason: plan.error };
      const { isFirst, difference } = plan;
      const changes = written.next().value ?? [];
      return { status: 'fulfilled', value: { changes, isFirst, isChanged: difference !== undefined } };
    });
  };
  return { ...writes, resultsOf };
}
