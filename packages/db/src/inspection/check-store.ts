// Checks a store for damage while it may be in use: the database's own integrity checks, and our invariants. Read-only.

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { columnsOf } from '../copies/postgres-end.ts';
import { openPool } from '../dialects/postgres-dialect.ts';
import { sqliteFileOf } from '../file-system.ts';
import { compareSchema } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import { RESTORE, type StoreFinding, type StoreSchema } from '../store-schema.ts';

export interface StoreReport {
  /** The names of the checks that ran. */
  readonly checks: readonly string[];
  readonly findings: readonly StoreFinding[];
}

type Row = Readonly<Record<string, unknown>>;
type Ask = (sql: string) => Promise<readonly Row[]>;

/** Maximum of examples for each kind of finding. */
const EXAMPLES = 5;

/**
 * Checks the store of `sqlite:<file>` or `postgres://…` without changing it. An unreadable database is a finding too.
 * A million domains take minutes; writers are not blocked.
 */
export async function checkStore(of: CheckedSchema, url: string): Promise<StoreReport> {
  const checks: string[] = [];
  const findings: StoreFinding[] = [];
  const check: Check = async (name, find) => {
    findings.push(...(await find()));
    checks.push(name);
  };
  const file = sqliteFileOf(url);
  try {
    await (file === undefined ? onPostgres(of, url, check) : onSqlite(of, file, check));
  } catch (cause) {
    const error = storeErrorOf(cause);
    if (!(error instanceof StoreError)) throw error;
    findings.push({
      what: error.message,
      advice: error.code === 'corrupt' ? RESTORE : 'No further checks could run.',
    });
  }
  return { checks, findings };
}

type CheckedSchema = Pick<StoreSchema, 'migrations' | 'keys' | 'invariants'>;
type Check = (name: string, find: () => Promise<readonly StoreFinding[]>) => Promise<void>;

async function onSqlite(of: CheckedSchema, file: string, check: Check): Promise<void> {
  if (!existsSync(file)) throw new StoreError('cannot-open', { cause: new Error(`there is no ${file}`) });
  using database = new DatabaseSync(file, { timeout: 5_000 });
  // Not opened read-only: to read a write-ahead log left by a kill, SQLite must write beside the file.
  database.exec('PRAGMA query_only = ON');
  const ask: Ask = async (sql) => database.prepare(sql).all() as Row[];
  await check('pages and indexes', async () => {
    const rows = await ask(`PRAGMA integrity_check(${EXAMPLES})`);
    const errors = rows.map(({ integrity_check: text }) => String(text)).filter((text) => text !== 'ok');
    return errors.length > 0 ? [{ what: `The file is damaged: ${errors.join('; ')}.`, advice: RESTORE }] : [];
  });
  await check('references', async () => {
    const rows = await ask(`SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT ${EXAMPLES}`);
    const where = rows.map((row) => `${row.table} ${row.rowid} to ${row.parent}`);
    return rows.length > 0
      ? [{ what: `Rows refer to rows that do not exist: ${where.join(', ')}.`, advice: RESTORE }]
      : [];
  });
  const tables = new Set(
    (await ask("SELECT name FROM sqlite_schema WHERE type = 'table'")).map(({ name }) => String(name)),
  );
  await checkBoth(
    of,
    { ask, check },
    {
      hasTable: async (table) => tables.has(table),
      lastNumber: async (table) => {
        if (!tables.has('sqlite_sequence')) return undefined;
        const [row] = await ask(`SELECT seq FROM sqlite_sequence WHERE name = '${table}'`);
        return row && Number(row.seq);
      },
    },
  );
}

async function onPostgres(of: CheckedSchema, url: string, check: Check): Promise<void> {
  const pool = openPool(url, { poolSize: 1 });
  const client = await pool.connect().catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const ask: Ask = async (sql) => (await client.query<Row>(sql)).rows;
  try {
    // The duration depends on the size of the store; reads block no writer.
    await ask('set statement_timeout = 0; set default_transaction_read_only = on');
    await check('indexes and constraints', async () => {
      const rows = await ask(`
        select 'index ' || c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relnamespace = current_schema()::regnamespace and not (i.indisvalid and i.indisready)
        union all select 'constraint ' || conname from pg_constraint
        where connamespace = current_schema()::regnamespace and not convalidated`);
      return rows.map(({ name }) => ({
        what: `The ${name} is not valid.`,
        advice: 'REINDEX it, or VALIDATE the constraint.',
      }));
    });
    await check('checksums of pages', async () => {
      const [row] = await ask('select checksum_failures as n from pg_stat_database where datname = current_database()');
      if (!row?.n) return [];
      return [{ what: `The server has found ${row.n} pages with a wrong checksum.`, advice: RESTORE }];
    });
    const extensions = await ask("select 1 from pg_extension where extname = 'amcheck'");
    if (extensions.length > 0) await check('pages of indexes (amcheck)', () => indexPages(of, ask));
    await checkBoth(
      of,
      { ask, check },
      {
        hasTable: async (table) => (await columnsOf(client, table)).length > 0,
        lastNumber: async (table) => {
          const [row] = await ask(`select pg_get_serial_sequence('${table}', '${of.keys[table]?.[0]}') as name`);
          if (!row?.name) return undefined;
          const [found] = await ask(`select case when is_called then last_value else 0 end as last from ${row.name}`);
          return Number(found?.last);
        },
      },
    );
  } finally {
    client.release(true);
    await pool.end();
  }
}

async function indexPages({ keys }: CheckedSchema, ask: Ask): Promise<readonly StoreFinding[]> {
  const indexes = await ask(`
    select c.oid, c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i' and c.relam = (select oid from pg_am where amname = 'btree')
      and t.relname in (${Object.keys(keys)
        .map((table) => `'${table}'`)
        .join(', ')})`);
  const findings: StoreFinding[] = [];
  for (const { oid, name } of indexes) {
    try {
      await ask(`select bt_index_check(${Number(oid)}::regclass)`);
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      if (code === '42501') return findings;
      findings.push({
        what: `The index ${name} is damaged: ${message}.`,
        advice: 'REINDEX it; check the disk and the memory of the server.',
      });
    }
  }
  return findings;
}

interface Catalog {
  readonly hasTable: (table: string) => Promise<boolean>;
  readonly lastNumber: (table: string) => Promise<number | undefined>;
}

/** The invariants of both databases. */
async function checkBoth(
  { migrations, keys, invariants }: CheckedSchema,
  { ask, check }: { readonly ask: Ask; readonly check: Check },
  { hasTable, lastNumber }: Catalog,
): Promise<void> {
  let isCurrent = true;
  await check('version', async () => {
    const rows = await ask('select name from kysely_migration order by name').catch(() => []);
    const names = rows.map(({ name }) => String(name));
    const state = compareSchema(names, migrations);
    isCurrent = state === 'current';
    if (isCurrent || state === 'older') return [];
    if (state === 'newer')
      return [{ what: `The store has the schema ${names.at(-1)}, of a newer version.`, advice: 'Update Strata.' }];
    const what = state === 'empty' ? 'It is not a store of Strata.' : 'It is a store of another service of Strata.';
    return [{ what, advice: 'Check STRATA_DATABASE_URL.' }];
  });
  // The next start upgrades an older store; the current invariants do not apply before.
  if (!isCurrent) return;
  for (const { name, sql, what, advice } of invariants) {
    await check(name, async () => {
      const rows = await ask(`${sql} limit ${EXAMPLES}`);
      return rows.length > 0 ? [{ what: `${what}: ${rows.map(({ id }) => id).join(', ')}.`, advice }] : [];
    });
  }
  await check('numbers', async () => {
    const findings: StoreFinding[] = [];
    for (const [table, key] of Object.entries(keys)) {
      if (!(await hasTable(table))) continue;
      const last = await lastNumber(table);
      if (last === undefined) continue;
      const [row] = await ask(`select coalesce(max(${key[0]}), 0) as n from ${table}`);
      if (Number(row?.n) <= last) continue;
      const what = `${table} has the number ${row?.n}, but its sequence continues with ${last + 1}.`;
      findings.push({
        what,
        advice: 'Inserts fail: set its sequence to the greatest number, or restore a backup.',
      });
    }
    return findings;
  });
}
