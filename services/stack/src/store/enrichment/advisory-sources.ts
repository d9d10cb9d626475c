// The sync state of each advisory source. One process at a time syncs a source: it holds a lease that expires.

import { writeTransaction } from '@strata/db';
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../schema.ts';

/** `complete`: the last attempt was complete. `interrupted`: it was stopped or killed; the next one resumes at the cursor. */
export type SourceState = 'never' | 'syncing' | 'complete' | 'failed' | 'interrupted';

export interface StoredSource {
  readonly name: string;
  readonly state: SourceState;
  /** Where the current sync continues, or the next one begins; opaque to the store. */
  readonly cursor: unknown;
  /** Start of the last attempt. */
  readonly startedAt: Date | null;
  /** End of the last complete sync. */
  readonly finishedAt: Date | null;
  readonly nextAt: Date | null;
  readonly error: string | null;
  /** Consecutive failed attempts. */
  readonly failures: number;
  /** Of the last or current sync: records read, and records that could not be read, with a description of the first. */
  readonly read: number;
  readonly skipped: number;
  readonly skippedExample: string | null;
}

/** The progress of one step of a sync. */
export interface SourceStep {
  readonly cursor: unknown;
  readonly read: number;
  readonly skipped: number;
  readonly skippedExample: string | null;
}

/** How an incomplete sync ended; `error` is null if it was stopped on purpose. */
export interface SourceStop extends Omit<SourceStep, 'cursor'> {
  readonly error: string | null;
  readonly failures: number;
  readonly nextAt: Date;
}

export interface Lease {
  readonly owner: string;
  readonly until: Date;
}

type Row = Selectable<Database['advisory_sources']>;

/** `beginning`: syncing, with nothing read yet: the counts are those of the previous sync. */
type RowState = Exclude<SourceState, 'never'> | 'beginning';

export class SourceTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Every source that a sync was started for; `now` by the clock of leases. */
  async list(now: Date): Promise<StoredSource[]> {
    const rows = await this.#db.selectFrom('advisory_sources').orderBy('name').selectAll().execute();
    return rows.map((row) => storedSource(row, now));
  }

  /** Begins a sync, or resumes an interrupted one with its counts. Undefined while another process holds the lease. */
  async begin(
    name: string,
    { startedAt, now, lease }: { readonly startedAt: Date; readonly now: Date; readonly lease: Lease },
  ): Promise<StoredSource | undefined> {
    return writeTransaction(this.#db, async (tx) => {
      const before = await tx.selectFrom('advisory_sources').where('name', '=', name).selectAll().executeTakeFirst();
      if (before && before.lease_until > now.getTime() && before.lease_owner !== lease.owner) return undefined;
      const isResumed = before !== undefined && before.state !== 'complete' && before.state !== 'beginning';
      const row: Row = {
        name,
        state: (isResumed ? 'syncing' : 'beginning') satisfies RowState,
        cursor: before?.cursor ?? null,
        started_at: startedAt.getTime(),
        finished_at: before?.finished_at ?? null,
        next_at: null,
        error: null,
        failures: before?.failures ?? 0,
        // The counts of the previous sync are reported until this one has read something.
        read: before?.read ?? 0,
        skipped: before?.skipped ?? 0,
        skipped_example: before?.skipped_example ?? null,
        lease_owner: lease.owner,
        lease_until: lease.until.getTime(),
      };
      await tx
        .insertInto('advisory_sources')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute();
      const begun = storedSource(row, now);
      return isResumed ? begun : { ...begun, read: 0, skipped: 0, skippedExample: null };
    });
  }

  /** Call after the results of the step are written. Returns false if the lease was lost: another process continues. */
  async step(name: string, step: SourceStep, lease: Lease): Promise<boolean> {
    const { cursor, read, skipped, skippedExample } = step;
    return this.#update(name, lease, {
      state: 'syncing' satisfies RowState,
      cursor: JSON.stringify(cursor),
      read,
      skipped,
      skipped_example: skippedExample,
      lease_until: lease.until.getTime(),
    });
  }

  /** Extends the lease during a long step. */
  async renew(name: string, lease: Lease): Promise<boolean> {
    return this.#update(name, lease, { lease_until: lease.until.getTime() });
  }

  /** Marks the sync as complete. */
  async finish(
    name: string,
    end: { readonly cursor: unknown; readonly finishedAt: Date; readonly nextAt: Date },
    lease: Lease,
  ): Promise<boolean> {
    return this.#update(name, lease, {
      state: 'complete' satisfies RowState,
      cursor: JSON.stringify(end.cursor),
      finished_at: end.finishedAt.getTime(),
      next_at: end.nextAt.getTime(),
      failures: 0,
      error: null,
      ...released,
    });
  }

  /** Marks the sync as stopped or failed; the cursor and what was read are kept. */
  async stop(name: string, end: SourceStop, lease: Lease): Promise<boolean> {
    return this.#update(name, lease, {
      state: (end.error === null ? 'interrupted' : 'failed') satisfies RowState,
      error: end.error,
      failures: end.failures,
      read: end.read,
      skipped: end.skipped,
      skipped_example: end.skippedExample,
      next_at: end.nextAt.getTime(),
      ...released,
    });
  }

  async #update(name: string, { owner }: Lease, values: Partial<Row>): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('advisory_sources')
      .set(values)
      .where('name', '=', name)
      .where('lease_owner', '=', owner)
      .executeTakeFirst();
    return Number(numUpdatedRows) > 0;
  }
}

const released = { lease_owner: null, lease_until: 0 };

function storedSource(row: Row, now: Date): StoredSource {
  const state = row.state as RowState;
  const isRunning = state === 'syncing' || state === 'beginning';
  const runningState = row.lease_until > now.getTime() ? 'syncing' : 'interrupted';
  return {
    name: row.name,
    state: isRunning ? runningState : state,
    cursor: row.cursor === null ? null : JSON.parse(row.cursor),
    startedAt: dateOf(row.started_at),
    finishedAt: dateOf(row.finished_at),
    nextAt: dateOf(row.next_at),
    error: row.error,
    failures: row.failures,
    read: row.read,
    skipped: row.skipped,
    skippedExample: row.skipped_example,
  };
}

const dateOf = (time: number | null): Date | null => (time === null ? null : new Date(time));
