// Deletes old history in batches, oldest first. The newest row of a log is kept, so that the end of the log is known.

import {
  type Guard,
  incrementCounter,
  listed,
  readSetting,
  recordSizes,
  unguarded,
  writePipelined,
  writeSetting,
  writeTransaction,
} from '@strata/db';
import { type Kysely, sql, type Transaction } from 'kysely';
import { type ForgetOptions, forgetUnasked } from '../domains/forget-domains.ts';
import { SignalTable } from '../events/signals.ts';
import { StreamTable } from '../events/stream.ts';
import type { Database } from '../schema.ts';
import { stackSchema } from '../stack-schema.ts';
import { NotificationTable } from '../watchlists/notification-table.ts';

export type HistoryTable = 'scans' | 'events' | 'changes' | 'alerts' | 'anomalies';

export interface Batch {
  /** Rows older than this are deleted. */
  readonly before: Date;
  /** Maximum of rows, the oldest, that are inspected. */
  readonly limit: number;
}

export class RetentionTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /**
   * Deletes a batch; returns false if none of the oldest rows could be deleted. Events are kept until the watch, the stream and
   * watchlists have read them, scans until the changes that refer to them are deleted. Counts by day are kept.
   */
  prune(table: HistoryTable, batch: Batch): Promise<boolean> {
    switch (table) {
      case 'scans':
        return this.#pruneScans(batch);
      case 'events':
        return this.#pruneEvents(batch);
      case 'changes':
        return this.#pruneChanges(batch);
      case 'alerts':
      case 'anomalies':
        return this.#pruneSignals(table, batch);
      default:
        return table satisfies never;
    }
  }

  /** Forgets a batch of on-demand domains that no client has requested; returns whether there were any. */
  async forgetDomains(options: ForgetOptions): Promise<boolean> {
    return this.#write(async (tx) => (await forgetUnasked(tx, options)) > 0);
  }

  /** Records the size of each table once a day; `strata doctor` shows the growth. */
  async recordSizes(now: Date): Promise<void> {
    await this.#write((tx) => recordSizes(tx, stackSchema.sized, now));
  }

  /** The time of the last deletion; before the first, the time of the newest scan. */
  async acceptedTime(): Promise<Date | undefined> {
    const accepted = await readSetting(this.#db, ACCEPTED_TIME);
    if (accepted) return new Date(Number(accepted));
    const newest = this.#db.selectFrom('scans').orderBy('id', 'desc').limit(1).select('observed_at');
    const scan = await newest.executeTakeFirst();
    return scan && new Date(scan.observed_at);
  }

  async acceptTime(at: Date): Promise<void> {
    await writePipelined(this.#db, [writeSetting(this.#db, ACCEPTED_TIME, String(at.getTime()))], this.#guard);
  }

  async #pruneEvents({ before, limit }: Batch): Promise<boolean> {
    const [watched, published, matched] = [
      (await new SignalTable(this.#db).watched())?.seq ?? 0,
      (await new StreamTable(this.#db).cursor()) ?? 0,
      // Before the first match there are no lists.
      (await new NotificationTable(this.#db).matchedTo())?.seq ?? Number.MAX_SAFE_INTEGER,
    ];
    // Up to the last old event, so that a prefix is deleted; an earlier event with a later time was written by a wrong clock.
    const { rows } = await sql<{ last: number | null }>`
      select max(seq) as last from (
        select seq, at from events where seq > ${EVENTS_PRUNED_THROUGH} order by seq limit ${sql.lit(limit)}) as oldest
      where at < ${before.getTime()} and seq <= ${Math.min(watched, published, matched)} and seq < (select max(seq) from events)`.execute(
      this.#db,
    );
    const last = rows[0]?.last ?? null;
    if (last === null) return false;
    const deleting = this.#db.deleteFrom('events').where('seq', '<=', last);
    await writePipelined(
      this.#db,
      [deleting.compile(), writeSetting(this.#db, EVENTS_PRUNED, String(last))],
      this.#guard,
    );
    return true;
  }

  async #pruneScans({ before, limit }: Batch): Promise<boolean> {
    const from = await scansPrunedThrough(this.#db);
    const { rows } = await sql<{ last: number | null }>`
      select max(id) as last from (
        select id, observed_at from scans where id > ${from} order by id limit ${sql.lit(limit)}) as oldest
      where observed_at < ${before.getTime()} and id < (select max(id) from scans)`.execute(this.#db);
    const last = rows[0]?.last ?? null;
    if (last === null) return false;
    const deleting = this.#db.deleteFrom('scans').where('id', '>', from).where('id', '<=', last).where(isUnreferenced);
    const recording = writeSetting(this.#db, SCANS_PRUNED, String(last));
    await writePipelined(this.#db, [deleting.compile(), recording], this.#guard);
    return true;
  }

  async #pruneChanges({ before, limit }: Batch): Promise<boolean> {
    const oldest = await this.#db
      .selectFrom((query) =>
        query.selectFrom('changes').orderBy('id').limit(limit).select(['id', 'scan_id', 'confirmed_at']).as('oldest'),
      )
      .where('oldest.confirmed_at', '<', before.getTime())
      .select(['oldest.id', 'oldest.scan_id'])
      .execute();
    if (oldest.length === 0) return false;
    const through = await scansPrunedThrough(this.#db);
    const ids = listed(
      this.#db,
      oldest.map(({ id }) => id),
    );
    // Pruned scans that were kept only for these changes.
    const passed = listed(
      this.#db,
      oldest.map(({ scan_id }) => scan_id).filter((id) => id <= through),
    );
    const changes = this.#db.deleteFrom('changes').where('id', 'in', ids);
    const scans = this.#db.deleteFrom('scans').where('id', 'in', passed).where(isUnreferenced);
    await writePipelined(this.#db, [changes.compile(), scans.compile()], this.#guard);
    return true;
  }

  async #pruneSignals(table: 'alerts' | 'anomalies', { before, limit }: Batch): Promise<boolean> {
    return this.#write(async (tx) => {
      const oldest = tx.selectFrom(table).where('at', '<', before.getTime()).orderBy('at').limit(limit).select('id');
      const { numDeletedRows } = await tx.deleteFrom(table).where('id', 'in', oldest).executeTakeFirstOrThrow();
      const deleted = Number(numDeletedRows);
      if (deleted > 0) await incrementCounter(tx, table === 'alerts' ? 'alert-rows' : 'anomaly-rows', -deleted);
      // Invalidates cached responses that list alerts.
      if (deleted > 0 && table === 'alerts') await incrementCounter(tx, 'alerts');
      return deleted > 0;
    });
  }

  #write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      return work(tx);
    });
  }
}

const ACCEPTED_TIME = 'retention-accepted-time';
const SCANS_PRUNED = 'scans-pruned-through';
const EVENTS_PRUNED = 'events-pruned-through';
/** In SQL. PostgreSQL's index contains deleted rows until a vacuum: a scan from the first event would visit all of them. */
export const EVENTS_PRUNED_THROUGH = sql<number>`
  coalesce((select cast(value as bigint) from settings where name = ${sql.lit(EVENTS_PRUNED)}), 0)`;
/** A scalar subquery for each scan: with `not exists` the planner may read all changes. */
const isUnreferenced = sql<boolean>`(select 1 from changes where changes.scan_id = scans.id limit 1) is null`;

/** The last scan up to which unreferenced scans are deleted; 0 before the first deletion. */
export async function scansPrunedThrough(db: Kysely<Database>): Promise<number> {
  return Number((await readSetting(db, SCANS_PRUNED)) ?? 0);
}
