// Dumps a PostgreSQL store in COPY text format, one text per table from one snapshot, and restores it in one transaction.
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Kysely, type Transaction } from 'kysely';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { openPool, postgresDialect } from '../dialects/postgres-dialect.ts';
import { latestOf, migrateTo } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';
import { type CopiedPart, SKIPPED_NUMBERS, type StoreCopy } from './copy-manifest.ts';
import { columnsOf, lastNumberOf, listOf } from './postgres-end.ts';

/** Rows of a table in COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html */
export type RowsText = AsyncIterable<Uint8Array>;

export interface PostgresBackupOptions {
  readonly onProgress?: (progress: { readonly table: string; readonly rows: number }) => void;
  readonly signal?: AbortSignal;
}

/** No time limit for large tables, and output formats that do not depend on the server's settings. */
const SETTINGS = `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local bytea_output = 'hex'; set local extra_float_digits = 1`;

/**
 * Reads every table from one snapshot and passes its rows to `write`, table by table. Readers and writers are not blocked;
 * the server keeps row versions that are replaced during the dump. Rejects with StoreError, or with the signal's reason.
 */
export async function dumpPostgres(
  { keys }: Pick<StoreSchema, 'keys'>,
  url: string,
  write: (table: string, rows: RowsText) => Promise<void>,
  { onProgress, signal }: PostgresBackupOptions = {},
): Promise<StoreCopy> {
  return onOneConnection(url, async (client) => {
    await client.query(`begin isolation level repeatable read read only; ${SETTINGS}`);
    const { rows } = await client.query<{ name: string }>(
      'select name from kysely_migration order by name desc limit 1',
    );
    const tables: CopiedPart[] = [];
    for (const [table, key] of Object.entries(keys)) {
      const columns = await columnsOf(client, table);
      // An older schema has fewer tables.
      if (columns.length === 0) continue;
      signal?.throwIfAborted();
      const meter = new RowMeter(table, onProgress, signal);
      const sum = createHash('sha256');
      await write(table, meter.through(client.query(copyTo(selectionOf({ table, key, columns }))), sum));
      const last = await lastNumberOf(client, table, key[0]);
      tables.push({
        table,
        rows: meter.rows,
        columns,
        sha256: sum.digest('hex'),
        ...(last === undefined ? {} : { last }),
      });
    }
    await client.query('commit');
    return { kind: 'postgres', schema: rows[0]?.name ?? '', tables };
  });
}

export interface LoadOptions<Tables> extends PostgresBackupOptions {
  /** Runs last in the same transaction, after the rows. A rejection aborts the restore. */
  readonly finish?: (tx: Transaction<Tables>) => Promise<void>;
}

/**
 * Restores a copy into the database of `url`, which must hold no rows. Reads every table back, compares
 * it, and upgrades the schema. The restore is atomic. Rejects with StoreError: `not-empty`, `copy-differs`, `newer-version`
 * or a database error.
 */
export async function loadPostgres<Tables>(
  { migrations, keys, numbered }: Pick<StoreSchema, 'migrations' | 'keys' | 'numbered'>,
  url: string,
  copy: StoreCopy,
  read: (table: string) => RowsText,
  { finish, onProgress, signal }: LoadOptions<Tables> = {},
): Promise<void> {
  await onOneConnection(url, async (client) => {
    const db = new Kysely<Tables>({ dialect: postgresDialect(poolOf(client)) });
    await db.transaction().execute(async (tx) => {
      await client.query(SETTINGS);
      await migrateTo(tx, migrations, copy.schema);
      for (const table of Object.keys(keys)) {
        if (table === 'settings' || (await columnsOf(client, table)).length === 0) continue;
        const { rowCount } = await client.query(`select 1 from ${table} limit 1`);
        if (rowCount) throw new StoreError('not-empty', { cause: new Error(`${table} has rows`) });
      }
      await client.query('delete from settings');
      for (const part of copy.tables) {
        signal?.throwIfAborted();
        const key = Object.hasOwn(keys, part.table) ? keys[part.table] : undefined;
        // Until migration 018 a store had tables of other services, without rows.
        if (!key && part.rows === 0) continue;
        if (!key) throw new StoreError('newer-version', { cause: new Error(`there is no table ${part.table} here`) });
        await loadTable(client, { ...part, key }, read(part.table), new RowMeter(part.table, onProgress, signal));
      }
      await replaceIdentity(client, copy, { keys, numbered });
      await migrateTo(tx, migrations, latestOf(migrations));
      await finish?.(tx);
    });
  });
}

/** The row count and the SHA-256 of a table's COPY text, to compare with a manifest. */
export async function digestOfRows(
  rows: RowsText,
  signal?: AbortSignal,
): Promise<{ readonly rows: number; readonly sha256: string }> {
  const meter = new RowMeter('', undefined, signal);
  const sum = createHash('sha256');
  for await (const _ of meter.through(rows, sum));
  return { rows: meter.rows, sha256: sum.digest('hex') };
}

type Keyed<Part> = Part & { readonly key: readonly string[] };

async function loadTable(
  client: pg.PoolClient,
  part: Keyed<CopiedPart>,
  rows: RowsText,
  meter: RowMeter,
): Promise<void> {
  const { table, key, columns = [] } = part;
  const actualColumns = await columnsOf(client, table);
  // An empty store whose schema is newer than the copy.
  if (actualColumns.join() !== columns.join())
    throw new StoreError('not-empty', { cause: new Error(`${table} has other columns here than in the copy`) });
  const written = createHash('sha256');
  const copying = client.query(copyFrom(`copy ${table} (${listOf(columns)}) from stdin`));
  await pipeline(meter.through(rows, written), copying);
  const sum = createHash('sha256');
  const again = new RowMeter(table);
  for await (const _ of again.through(client.query(copyTo(selectionOf({ table, key, columns }))), sum));
  if (again.rows !== part.rows || sum.digest('hex') !== part.sha256 || written.digest('hex') !== part.sha256) {
    const cause = new Error(`${table}: ${again.rows} rows were read again, ${part.rows} were copied`);
    throw new StoreError('copy-differs', { cause });
  }
}

/** Assigns a new store id and advances the sequences, as `prepareRestoredSqlite` does. */
async function replaceIdentity(
  client: pg.PoolClient,
  copy: StoreCopy,
  { keys, numbered }: Pick<StoreSchema, 'keys' | 'numbered'>,
): Promise<void> {
  await client.query(`update settings set value = $1 where name = 'store-id'`, [randomUUID()]);
  for (const { table, last } of copy.tables) {
    if (last === undefined) continue;
    const next = numbered.includes(table) ? last + SKIPPED_NUMBERS : last;
    const key = keys[table]?.[0];
    if (next > 0) await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, key, next]);
  }
}

async function onOneConnection<T>(url: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const pool = openPool(url, { poolSize: 1 });
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    return await work(client);
  } catch (error) {
    throw storeErrorOf(error);
  } finally {
    // The connection is closed, not returned: closing it ends its transaction.
    client?.release(true);
    await pool.end();
  }
}

/** A pool of one connection, so that Kysely's transaction and COPY share it. */
function poolOf(client: pg.PoolClient): pg.Pool {
  const same = new Proxy(client, {
    get(target, name) {
      if (name === 'release') return () => {};
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { connect: async () => same, ended: true, options: {} } as unknown as pg.Pool;
}

const selectionOf = ({ table, key, columns }: Keyed<{ readonly table: string; readonly columns: readonly string[] }>) =>
  `copy (select ${listOf(columns)} from ${table} order by ${listOf(key)}) to stdout`;

/** Counts the rows of a COPY text: each row ends with a line feed and contains no other. */
class RowMeter {
  rows = 0;
  readonly #table: string;
  readonly #onProgress: PostgresBackupOptions['onProgress'];
  readonly #signal: AbortSignal | undefined;

  constructor(table: string, onProgress?: PostgresBackupOptions['onProgress'], signal?: AbortSignal) {
    this.#table = table;
    this.#onProgress = onProgress;
    this.#signal = signal;
  }

  async *through(text: RowsText, sum: Hash): AsyncGenerator<Uint8Array> {
    for await (const piece of text) {
      this.#signal?.throwIfAborted();
      sum.update(piece);
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) this.rows += 1;
      this.#onProgress?.({ table: this.#table, rows: this.rows });
      yield piece;
    }
  }
}
