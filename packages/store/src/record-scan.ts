// Scans, many in one transaction: each with the intervals it moves, the changes it confirms, the events that tell of it.
// Whatever needs no turn among the writers is done before it: reading what is known, reconciling, deflating evidence.
import type { Evidence, Profile, ServiceChange } from '@strata/detect';
import type { Kysely } from 'kysely';
import { inTurn } from './in-turn.ts';
import { type KnownDomain, type PlannedScan, type PlanOptions, planScan } from './plan-scan.ts';
import { isPostgres } from './postgres-dialect.ts';
import { prepareScanStatements, readKnown, type ScanStatements } from './scan-statements.ts';
import type { Database } from './schema.ts';
import { StoreError } from './store-error.ts';
import { writePlans } from './write-plans.ts';

export interface ScanRecord {
  readonly profile: Profile;
  readonly evidence: Evidence;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

export interface RecordOptions {
  readonly confirmAfterMs: number;
  /** Reads stored evidence with today's rulebook; called only when the rulebook has changed since the last scan. */
  readonly redetect?: (evidence: Evidence) => Profile;
}

export interface RecordedScan {
  readonly changes: readonly (ServiceChange & { readonly id: string })[];
  /** Whether the answer about the domain differs in anything but the rulebook, the time of the scan and of the last sight. */
  readonly isChanged: boolean;
  readonly isFirst: boolean;
}

export type ScanResult = PromiseSettledResult<RecordedScan>;
export type RecordScans = (scans: readonly ScanRecord[], options: RecordOptions) => Promise<readonly ScanResult[]>;

/** Others wait for a transaction, and its rows are in memory as JSON. */
const MOST_AT_ONCE = 256;

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
    if (batch.has(scan.profile.domain) || batch.size === MOST_AT_ONCE) {
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

async function recordTogether(
  db: Kysely<Database>,
  statements: ScanStatements,
  batch: readonly ScanRecord[],
  options: PlanOptions,
): Promise<ScanResult[]> {
  const planAll = async (from: Kysely<Database>, scans: readonly ScanRecord[]) => {
    const known = await readKnown(from, statements, scans, options);
    return scans.map((scan, place) => planned(scan, known[place] as KnownDomain, options));
  };
  // In SQLite nobody else gets a word in while this process reckons, so that planning ahead would only read twice.
  const ahead = isPostgres(db) ? await planAll(db, batch) : [];
  return inTurn(db, async (tx) => {
    const standing = ahead.length > 0 ? await stillStanding(tx, statements, ahead) : new Map<ScanRecord, Look>();
    const others = batch.filter((scan) => !standing.has(scan));
    const anew = new Map(others.length > 0 ? (await planAll(tx, others)).map((look) => [look.scan, look]) : []);
    const looks = batch.flatMap((scan) => standing.get(scan) ?? anew.get(scan) ?? []);
    const written = await writePlans(
      tx,
      statements,
      looks.flatMap(({ scan, known, plan }) => ('error' in plan ? [] : [{ domain: scan.profile.domain, known, plan }])),
    );
    let next = 0;
    return looks.map(({ plan }): ScanResult => {
      if ('error' in plan) return { status: 'rejected', reason: plan.error };
      const { isFirst, difference } = plan;
      const changes = written[next++] ?? [];
      return { status: 'fulfilled', value: { changes, isFirst, isChanged: difference !== undefined } };
    });
  });
}

function planned(scan: ScanRecord, known: KnownDomain, options: PlanOptions): Look {
  try {
    return { scan, known, plan: planScan(known, scan, options) };
  } catch (error) {
    return { scan, known, plan: { error } };
  }
}

/** Of what was planned before the turn came, that whose domain nobody has moved since. */
async function stillStanding(
  db: Kysely<Database>,
  statements: ScanStatements,
  looks: readonly Look[],
): Promise<Map<ScanRecord, Look>> {
  const rows = await statements.revisions(
    db,
    looks.map(({ scan }) => scan.profile.domain),
  );
  const revisions = new Map(rows.map(({ name, revision }) => [name, revision]));
  const standing = looks.filter(({ scan, known }) => revisions.get(scan.profile.domain) === known.row?.revision);
  return new Map(standing.map((look) => [look.scan, look]));
}
