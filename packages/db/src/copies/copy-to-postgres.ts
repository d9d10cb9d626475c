// Copies a SQLite store to an empty PostgreSQL database: in one transaction, from one snapshot, verified row by row.
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { Kysely, sql } from 'kysely';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { withoutNul } from '../dialects/postgres-connection.ts';
import { BEGIN_WRITING, openPool, postgresDialect } from '../dialects/postgres-dialect.ts';
import { openFile, sqliteDialect } from '../dialects/sqlite-dialect.ts';
import { migrate } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';

type Row = Readonly<Record<string, unknown>>;

const PAGE_ROWS = 2_000;

/** The number of rows of a table, and the SHA-256 of all rows in key order. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Hex. */
  readonly sha256: string;
}

export interface CopyOptions {
  /** Reports the rows of a table written so far, then the rows read back for comparison. */
  readonly onProgress?: (progress: {
    readonly table: string;
    readonly rows: number;
    readonly isComparing: boolean;
  }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies the store in `file` to the database of a `postgres://` URL, which must hold no store with rows, and compares both.
 * The schema of the file is upgraded first. Rows written during the copy are not included. The copy is atomic: if it is
 * stopped, killed or differs, the target store stays empty. Rejects with StoreError: `not-empty`, `copy-differs` or a
 * database error.
 */
export async function copyToPostgres(
  { migrations, keys }: Pick<StoreSchema, 'migrations' | 'keys'>,
  file: string,
  url: string,
  options: CopyOptions = {},
): Promise<readonly CopiedTable[]> {
  await using source = new Kysely<unknown>({ dialect: sqliteDialect(openFile(file)) });
  await migrate(source, migrations);
  const pool = openPool(url, { poolSize: 2 });
  await using target = new Kysely<unknown>({ dialect: postgresDialect(pool) });
  await migrate(target, migrations);
  return await source
    .transaction()
    .setAccessMode('read only')
    .execute(async (from) => {
      const client = await pool.connect().catch((error: unknown) => Promise.reject(storeErrorOf(error)));
      try {
        return await inTransaction(client, async () => {
          await refuseFilled(client, Object.keys(keys));
          const copied: CopiedTable[] = [];
          for (const [table, key] of Object.entries(keys)) {
            options.signal?.throwIfAborted();
            const columns = await columnsOf(client, table);
            const written = await copyTable(from, client, { table, key, columns }, options);
            const read = await readBack(client, { table, key, columns }, options);
            if (written.rows !== read.rows || written.sha256 !== read.sha256) {
              const rows = `${written.rows} rows were written, ${read.rows} were read again`;
              throw new StoreError('copy-differs', { cause: new Error(`${table}: ${rows}`) });
            }
            await setNumbers(from, client, { table, key });
            copied.push(written);
          }
          return copied;
        });
      } catch (error) {
        throw storeErrorOf(error);
      } finally {
        client.release();
      }
    });
}

async function inTransaction<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  // The duration of a statement depends on the size of its table.
  await client.query(
    `${BEGIN_WRITING}; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`,
  );
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Rejects if a table has rows. A new store has only settings and counters, which the copy replaces. */
async function refuseFilled(client: pg.PoolClient, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    if (table === 'settings' || table === 'counters') continue;
    const { rowCount } = await client.query(`select 1 from ${table} limit 1`);
    if (rowCount) throw new StoreError('not-empty', { cause: new Error(`${table} has rows`) });
  }
  await client.query('delete from settings; delete from counters');
}

interface KeyedTable {
  readonly table: string;
  readonly key: readonly string[];
}

interface TableColumns extends KeyedTable {
  /** In the order of their names. */
  readonly columns: readonly string[];
}

async function copyTable(
  from: Kysely<unknown>,
  client: pg.PoolClient,
  { table, key, columns }: TableColumns,
  { onProgress, signal }: CopyOptions,
): Promise<CopiedTable> {
  const copy = client.query(copyFrom(`copy ${table} (${columns.map((name) => `"${name}"`).join(', ')}) from stdin`));
  const done = finished(copy);
  // Avoids an unhandled rejection; `done` is awaited below.
  done.catch(() => {});
  const sum = createHash('sha256');
  let rows = 0;
  try {
    for await (const page of pagesOf(from, { table, key })) {
      signal?.throwIfAborted();
      for (const row of page) addTo(sum, row, columns);
      rows += page.length;
      const text = page.map((row) => `${columns.map((name) => copyText(row[name])).join('\t')}\n`).join('');
      if (!copy.write(text)) await Promise.race([once(copy, 'drain'), done]);
      onProgress?.({ table, rows, isComparing: false });
    }
    copy.end();
    await done;
  } catch (error) {
    // The server accepts no other statement until the COPY has ended.
    copy.destroy();
    await done.catch(() => {});
    throw error;
  }
  return { table, rows, sha256: sum.digest('hex') };
}

async function readBack(
  client: pg.PoolClient,
  { table, key, columns }: TableColumns,
  { onProgress, signal }: CopyOptions,
): Promise<CopiedTable> {
  const order = key.map((name) => `"${name}"`).join(', ');
  await client.query(`declare rows_read no scroll cursor for select * from ${table} order by ${order}`);
  const sum = createHash('sha256');
  let rows = 0;
  for (;;) {
    signal?.throwIfAborted();
    const page: readonly Row[] = (await client.query(`fetch ${PAGE_ROWS} from rows_read`)).rows;
    if (page.length === 0) break;
    for (const row of page) addTo(sum, row, columns);
    rows += page.length;
    onProgress?.({ table, rows, isComparing: true });
  }
  await client.query('close rows_read');
  return { table, rows, sha256: sum.digest('hex') };
}

/** Sets the sequence after every number that the table ever assigned, including numbers of deleted rows. */
async function setNumbers(from: Kysely<unknown>, client: pg.PoolClient, { table, key }: KeyedTable): Promise<void> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(from);
  const last = rows[0]?.seq;
  if (last) await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, key[0], last]);
}

export async function columnsOf(client: pg.PoolClient, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 order by column_name`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** All rows in key order, in pages. */
async function* pagesOf(from: Kysely<unknown>, { table, key }: KeyedTable): AsyncGenerator<readonly Row[]> {
  const names = sql.join(key.map((name) => sql.ref(name)));
  for (let last: Row | undefined; ; ) {
    const after = last ? sql`where (${names}) > (${sql.join(key.map((name) => last?.[name]))})` : sql``;
    const { rows } = await sql<Row>`
      select * from ${sql.table(table)} ${after} order by ${names} limit ${PAGE_ROWS}`.execute(from);
    last = rows.at(-1);
    if (!last) return;
    yield rows;
  }
}

/** Hashes the values as JSON in column-name order, bytes as hex. NUL is replaced, since PostgreSQL cannot store it. */
function addTo(sum: Hash, row: Row, columns: readonly string[]): void {
  const values = columns.map((name) => {
    const value = row[name];
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return typeof value === 'string' ? withoutNul(value) : value;
  });
  sum.update(JSON.stringify(values)).update('\n');
}

/** A value in COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html */
function copyText(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value !== 'string') return String(value);
  return withoutNul(value).replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
