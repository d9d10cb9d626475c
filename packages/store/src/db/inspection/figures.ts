// What an operator watches of the database: what is due, and the pool of connections.
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../../schema.ts';

export interface StoreFigures {
  /** Domains that are due for a scan. */
  readonly due: number;
  /** How long one that was scanned before has been due, in milliseconds, at most; 0 where none is. */
  readonly longestDueMs: number;
}

/** How many there are of each thing. */
export interface StoreCounts {
  readonly domains: number;
  readonly scannedDomains: number;
  readonly services: number;
  readonly scans: number;
  readonly changes: number;
}

export interface PoolFigures {
  readonly size: number;
  readonly idle: number;
  /** Questions that wait for a connection. */
  readonly waiting: number;
}

export async function readFigures(db: Kysely<Database>, now: number): Promise<StoreFigures> {
  const { due, first } = await db
    .selectFrom('domains')
    .where('next_due_at', '<=', now)
    // One that was never scanned is due since ever, which says nothing of how late the schedule is.
    .select([
      sql<number>`count(*)`.as('due'),
      sql<number | null>`min(case when next_due_at > 0 then next_due_at end)`.as('first'),
    ])
    .executeTakeFirstOrThrow();
  return { due: Number(due), longestDueMs: first === null ? 0 : now - Number(first) };
}

/** SQLite has one connection, for which nobody outside waits. */
export function poolFigures(pool: pg.Pool | undefined): PoolFigures {
  if (pool === undefined) return { size: 1, idle: 1, waiting: 0 };
  return { size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

export async function countAll(db: Kysely<Database>): Promise<StoreCounts> {
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
