// What a database is like before it is used: looked at, never changed and never brought up to date.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { MIGRATION_NAMES } from './migrations/index.ts';
import { openPool } from './postgres-dialect.ts';
import { StoreError, storeErrorOf } from './store-error.ts';

export interface StoreState {
  readonly kind: 'sqlite' | 'postgres';
  /** `empty`: there is no store in it yet; `older` is brought up to date by the next start, `newer` is of a later version. */
  readonly schema: 'empty' | 'older' | 'current' | 'newer';
  /** Of the fifth of five questions without tables, when all that is made at first is there. */
  readonly latencyMs: number;
  readonly domains: number;
  /** Whether tables may be made and rows written. */
  readonly isWritable: boolean;
  /** Of the whole server, where it has any. */
  readonly connections: { readonly used: number; readonly most: number } | undefined;
  /** The server's clock less ours, in milliseconds; undefined where there is no server. */
  readonly clockAheadMs: number | undefined;
}

const TABLE = 'kysely_migration';
/** A damaged file is told by the first of its faults. */
const FAULTS = 1;

/** Looks at `sqlite:<file>` or `postgres://…`. Rejects with StoreError: no server, a damaged file, another program's. A file is read as a whole for that. */
export async function inspectStore(url: string): Promise<StoreState> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  try {
    return file === undefined ? await inspectPostgres(url) : inspectSqlite(file);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

function inspectSqlite(file: string): StoreState {
  const nothing = { kind: 'sqlite', connections: undefined, clockAheadMs: undefined, isWritable: true } as const;
  if (!existsSync(file)) return { ...nothing, schema: 'empty', latencyMs: 0, domains: 0 };
  using database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  const has = (table: string) => tables.some(({ name }) => name === table);
  if (tables.length > 0 && !has(TABLE)) throw new StoreError('not-a-database');
  const fault = database.prepare(`pragma quick_check(${FAULTS})`).get()?.quick_check;
  if (fault !== 'ok') throw new StoreError('corrupt', { cause: new Error(String(fault)) });
  const applied = has(TABLE)
    ? database
        .prepare(`select name from ${TABLE}`)
        .all()
        .map(({ name }) => String(name))
    : [];
  const domains = has('domains') ? Number(database.prepare('select count(*) as n from domains').get()?.n) : 0;
  const asked = database.prepare('select 1');
  let latencyMs = 0;
  for (let turn = 0; turn < 5; turn++) {
    const startedAt = performance.now();
    asked.get();
    latencyMs = performance.now() - startedAt;
  }
  return { ...nothing, schema: schemaOf(applied), latencyMs, domains };
}

interface ServerRow {
  readonly now: Date;
  readonly used: number;
  readonly most: number;
  readonly may_create: boolean | null;
  readonly is_replica: boolean;
  readonly migrations: string | null;
  readonly domains: string | null;
}

const SERVER = `
  select clock_timestamp() as now,
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
    has_schema_privilege(current_schema(), 'create') as may_create,
    pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_replica,
    to_regclass(quote_ident(current_schema()) || '.${TABLE}') as migrations,
    to_regclass(quote_ident(current_schema()) || '.domains') as domains`;

async function inspectPostgres(url: string): Promise<StoreState> {
  const pool = openPool(url, { poolSize: 1 });
  try {
    const client = await pool.connect();
    try {
      return await inspectServer(client);
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

async function inspectServer(client: pg.PoolClient): Promise<StoreState> {
  let latencyMs = 0;
  for (let turn = 0; turn < 5; turn++) {
    const startedAt = performance.now();
    await client.query('select 1');
    latencyMs = performance.now() - startedAt;
  }
  const { rows } = await client.query<ServerRow>(SERVER);
  const answeredAt = Date.now();
  const [row] = rows;
  if (row === undefined) throw new Error('the server says nothing of itself');
  const names = row.migrations ? await client.query<{ name: string }>(`select name from ${TABLE}`) : { rows: [] };
  const counted = row.domains ? await client.query<{ n: number }>('select count(*) as n from domains') : { rows: [] };
  return {
    kind: 'postgres',
    schema: schemaOf(names.rows.map(({ name }) => name)),
    latencyMs,
    domains: counted.rows[0]?.n ?? 0,
    isWritable: row.may_create === true && !row.is_replica,
    connections: { used: row.used, most: row.most },
    clockAheadMs: row.now.getTime() - answeredAt,
  };
}

function schemaOf(applied: readonly string[]): StoreState['schema'] {
  if (applied.length === 0) return 'empty';
  if (applied.some((name) => !MIGRATION_NAMES.includes(name))) return 'newer';
  return applied.length < MIGRATION_NAMES.length ? 'older' : 'current';
}
