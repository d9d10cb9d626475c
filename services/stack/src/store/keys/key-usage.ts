// Counts the requests of each key by UTC day, path and source, for the key's owner. The quota is counted elsewhere, exactly; these
// counts are collected in memory and written every few seconds, so that a killed process loses the last of them.
import { jsonRows } from '@strata/db';
import type { KeyUse } from '@strata/http';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface UsageRow extends Pick<KeyUse, 'path' | 'source'> {
  /** UTC date, `2026-01-31`. */
  readonly day: string;
  readonly requests: number;
  /** Requests that used the daily quota. */
  readonly counted: number;
}

export const KEPT_DAYS = 90;
const WRITE_INTERVAL_MS = 10_000;
/** Keys, days, paths and sources in memory; above it the counts are written at once. */
const MAX_WAITING = 5_000;
/** Old rows that one write deletes. */
const MAX_DELETED = 500;

const COLUMNS = {
  key_id: 'text',
  day: 'text',
  path: 'text',
  source: 'text',
  requests: 'integer',
  counted: 'integer',
} as const;

type Row = UsageRow & { readonly keyId: string };
type Waiting = { -readonly [K in keyof Row]: Row[K] };

export class KeyUsage implements AsyncDisposable {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;
  #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Kysely<Database>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  note({ keyId, path, source, counted }: KeyUse): void {
    const day = this.#now().toISOString().slice(0, 10);
    const name = `${keyId} ${day} ${source} ${path}`;
    const row = this.#waiting.get(name) ?? { keyId, day, path, source, requests: 0, counted: 0 };
    row.requests += 1;
    row.counted += counted;
    this.#waiting.set(name, row);
    if (this.#waiting.size >= MAX_WAITING) void this.write().catch(() => {});
    this.#timer ??= setTimeout(() => void this.write().catch(() => {}), WRITE_INTERVAL_MS).unref();
  }

  /** Writes what was counted so far. After a failure the counts are kept for the next write. */
  write(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#writeWaiting());
    return this.#writing;
  }

  /** The usage of a key since a UTC date, newest day first; includes requests that this process has answered until now. */
  async since(keyId: string, day: string): Promise<UsageRow[]> {
    await this.write();
    return this.#db
      .selectFrom('key_usage')
      .where('key_id', '=', keyId)
      .where('day', '>=', day)
      .orderBy('day', 'desc')
      .orderBy('path')
      .orderBy('source')
      .select(['day', 'path', 'source', 'requests', 'counted'])
      .execute();
  }

  /** Never rejects: what follows it must be closed too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.write().catch(() => {});
  }

  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const taken = this.#waiting;
    this.#waiting = new Map();
    try {
      await this.#add([...taken.values()]);
    } catch (error) {
      for (const [name, row] of taken) this.#restore(name, row);
      throw error;
    }
    const oldest = new Date(this.#now().getTime() - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10);
    await sql`delete from key_usage where (key_id, day, path, source) in (
      select key_id, day, path, source from key_usage where day < ${oldest} limit ${sql.lit(MAX_DELETED)})`.execute(
      this.#db,
    );
  }

  #restore(name: string, { requests, counted, ...row }: Waiting): void {
    const later = this.#waiting.get(name);
    // While the database fails for long, what does not fit is dropped: memory is bounded.
    if (later === undefined && this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(name, {
      ...row,
      requests: requests + (later?.requests ?? 0),
      counted: counted + (later?.counted ?? 0),
    });
  }

  async #add(rows: readonly Row[]): Promise<void> {
    const values = rows.map(({ keyId, day, path, source, requests, counted }) => [
      keyId,
      day,
      path,
      source,
      requests,
      counted,
    ]);
    // In one order everywhere, so that two processes that lock rows of the same keys do not deadlock.
    await sql`insert into key_usage (key_id, day, path, source, requests, counted)
      select key_id, day, path, source, requests, counted from ${jsonRows(this.#db, values, COLUMNS)} as noted
      where true order by key_id, day, path, source
      on conflict (key_id, day, path, source) do update
      set requests = key_usage.requests + excluded.requests, counted = key_usage.counted + excluded.counted`.execute(
      this.#db,
    );
  }
}
