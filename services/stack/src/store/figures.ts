// Figures for operators, and the ends of the logs for other processes.
import { type PoolFigures, poolFigures, readSizes, type TableSize } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import { readHeads, type StoreHeads } from './events/heads.ts';
import type { Database } from './schema.ts';
import { stackSchema } from './stack-schema.ts';

/** Reads the store without changing it. */
export interface StoreInspection {
  /** Counts all rows of these tables; slow for large stores. */
  counts(): Promise<StoreCounts>;
  /** Reads at most `COUNT_LIMIT` index entries of each kind. */
  figures(now: Date): Promise<StoreFigures>;
  /** Estimated sizes of the tables that grow; reads none of them. */
  sizes(): Promise<readonly TableSize[]>;
  /** Connections of this process. */
  pool(): PoolFigures;
  /** The ends of all logs, for processes that consume what other processes write. */
  heads(): Promise<StoreHeads>;
}

export const inspectionOf = (db: Kysely<Database>, pool: Parameters<typeof poolFigures>[0]): StoreInspection => ({
  counts: () => countAll(db),
  figures: (now) => readFigures(db, now.getTime()),
  sizes: () => readSizes(db, stackSchema.sized),
  pool: () => poolFigures(pool),
  heads: () => readHeads(db),
});

export interface StoreFigures {
  /** Domains that are due for a scan and not leased, up to `COUNT_LIMIT`. */
  readonly due: number;
  /** Domains that a process scans, up to `COUNT_LIMIT`. */
  readonly leased: number;
  /** The longest time, in milliseconds, that a previously scanned domain has been due without a lease; 0 if no domain is due. */
  readonly longestDueMs: number;
}

/** Rows of each kind. */
export interface StoreCounts {
  readonly domains: number;
  readonly scannedDomains: number;
  readonly services: number;
  readonly scans: number;
  readonly changes: number;
}

/** A backlog above this is counted as this: the count must not grow with the store. */
export const COUNT_LIMIT = 100_000;

async function readFigures(db: Kysely<Database>, now: number): Promise<StoreFigures> {
  // A domain that was never scanned has no due time: it says nothing about the delay of the schedule.
  const { rows } = await sql<{ due: number; leased: number; first: number | null }>`
    select
      (select count(*) from (select 1 from domains where leased_until is null and next_due_at <= ${now}
        limit ${sql.lit(COUNT_LIMIT)}) as counted) as due,
      (select count(*) from (select 1 from domains where leased_until > ${now} limit ${sql.lit(COUNT_LIMIT)}) as counted)
        as leased,
      (select min(next_due_at) from domains where leased_until is null and next_due_at between 1 and ${now}) as first`.execute(
    db,
  );
  const { due = 0, leased = 0, first = null } = rows[0] ?? {};
  return { due, leased, longestDueMs: first === null ? 0 : now - first };
}

async function countAll(db: Kysely<Database>): Promise<StoreCounts> {
  const count = async (table: 'domains' | 'services' | 'scans' | 'changes') => {
    const row = await db.selectFrom(table).select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow();
    return Number(row.n);
  };
  const scanned = await db
    .selectFrom('domains')
    .where('last_scanned_at', 'is not', null)
    .select(sql<number>`count(*)`.as('n'))
    .executeTakeFirstOrThrow();
  const open = await db
    .selectFrom('services')
    .where('valid_to', 'is', null)
    .where('status', '!=', 'pending')
    .select(sql<number>`count(*)`.as('n'))
    .executeTakeFirstOrThrow();
  return {
    domains: await count('domains'),
    scannedDomains: Number(scanned.n),
    services: Number(open.n),
    scans: await count('scans'),
    changes: await count('changes'),
  };
}
