// A PostgreSQL store as the source or the target of a copy.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Kysely } from 'kysely';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { withoutNul } from '../dialects/postgres-connection.ts';
import { BEGIN_WRITING, openPool, postgresDialect } from '../dialects/postgres-dialect.ts';
import { migrate } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';
import { type CopyEnd, PAGE_ROWS, type Row, type StoreRows } from './store-rows.ts';

/** The duration of a statement depends on the size of its table. */
const UNLIMITED = 'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';
const BEGIN_READING = 'begin isolation level repeatable read read only';
/** Writers wait, and so are connected at the end, or give up: none comes and goes with rows that are not copied. */
const lockOf = (tables: readonly string[]) => `lock table ${listOf(tables)} in share mode`;

/** Rejects with StoreError `in-use` if other processes are connected to a source, which is not upgraded then. */
export async function openPostgresEnd(
  url: string,
  { migrations, keys }: Pick<StoreSchema, 'migrations' | 'keys'>,
  isSource: boolean,
): Promise<CopyEnd> {
  const pool = openPool(url, { poolSize: 1 });
  const db = new Kysely<unknown>({ dialect: postgresDialect(pool) });
  const inTransaction = async <T>(begin: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      await client.query(`${begin}; ${UNLIMITED}`);
      // Before the first read, which takes the snapshot.
      if (begin === BEGIN_READING) await client.query(lockOf(Object.keys(keys)));
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  };
  await using opening = new AsyncDisposableStack();
  opening.defer(() => db.destroy());
  if (isSource) await refuseInUse(pool);
  await migrate(db, migrations);
  const opened = opening.move();
  return {
    reading: (work) => inTransaction(BEGIN_READING, (client) => work(rowsOf(client))),
    writing: (work) => inTransaction(BEGIN_WRITING, (client) => work(rowsOf(client))),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Rejects with StoreError `in-use` if other processes of Strata are connected to the database of a `postgres://` URL: what they write
 * later would not be copied.
 */
export async function refuseUsedDatabase(url: string): Promise<void> {
  const pool = openPool(url, { poolSize: 1 });
  try {
    await refuseInUse(pool);
  } catch (error) {
    throw storeErrorOf(error);
  } finally {
    await pool.end();
  }
}

async function refuseInUse(client: Pick<pg.PoolClient, 'query'>): Promise<void> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*) as n from pg_stat_activity
     where datname = current_database() and application_name like 'strata%' and pid <> pg_backend_pid()`,
  );
  if (rows[0]?.n) throw new StoreError('in-use', { cause: new Error(`${rows[0].n} other connections`) });
}

function rowsOf(client: pg.PoolClient): StoreRows {
  const run = async (text: string) => (await client.query<Row>(text)).rows;
  return {
    run,
    refuseInUse: () => refuseInUse(client),
    columns: (table) => columnsOf(client, table),
    async *pages({ table, key }) {
      await run(`declare rows_read no scroll cursor for select * from ${table} order by ${listOf(key)}`);
      for (;;) {
        const page = await run(`fetch ${PAGE_ROWS} from rows_read`);
        if (page.length === 0) break;
        yield page;
      }
      await run('close rows_read');
    },
    async insert({ table, columns }, pages) {
      const copy = client.query(copyFrom(`copy ${table} (${listOf(columns)}) from stdin`));
      await pipeline(Readable.from(copyTexts(pages, columns)), copy);
    },
    lastNumber: async ({ table, key: [key] }) => (await lastNumberOf(client, table, key)) ?? 0,
    async setLastNumber({ table, key: [key] }, last) {
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, key, last]);
    },
  };
}

export async function columnsOf(client: pg.PoolClient, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 order by column_name`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** The last number that a table assigned, 0 if it assigned none; undefined if the table has no sequence. */
export async function lastNumberOf(client: pg.PoolClient, table: string, key?: string): Promise<number | undefined> {
  const { rows } = await client.query<{ name: string | null }>('select pg_get_serial_sequence($1, $2) as name', [
    table,
    key,
  ]);
  const name = rows[0]?.name;
  if (!name) return undefined;
  const { rows: found } = await client.query(
    `select case when is_called then last_value else 0 end as last from ${name}`,
  );
  return Number(found[0]?.last ?? 0);
}

export const listOf = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

async function* copyTexts(pages: AsyncIterable<readonly Row[]>, columns: readonly string[]): AsyncGenerator<string> {
  for await (const page of pages)
    yield page.map((row) => `${columns.map((name) => copyText(row[name])).join('\t')}\n`).join('');
}

/** A value in COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html */
function copyText(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value !== 'string') return String(value);
  return withoutNul(value).replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
