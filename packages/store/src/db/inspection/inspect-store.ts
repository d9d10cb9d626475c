// What a database is like before it is used: looked at, never changed and never brought up to date.

import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteFileOf } from '@strata/db';
import type pg from 'pg';
import { MIGRATION_NAMES } from '../../migrations/index.ts';
import { openPool } from '../dialects/postgres-dialect.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import { growthOf, NOTED_SQL, type NotedSize, sizesSql, type TableGrowth, type TableSize } from './table-sizes.ts';

export interface StoreState {
  readonly kind: 'sqlite' | 'postgres';
  /** `empty`: there is no store in it yet; `older` is brought up to date by the next start, `newer` is of a later version. */
  readonly schema: 'empty' | 'older' | 'current' | 'newer';
  /** Of the fifth of five questions without tables, when all that is made at first is there. */
  readonly latencyMs: number;
  readonly domains: number;
  /** Of tables that have rows, the largest first; empty where the schema is not of this version. */
  readonly sizes: readonly TableGrowth[];
  /** Whether tables may be made and rows written; of a file that is not there, whether it may be made. */
  readonly isWritable: boolean;
  /** Where there is a server. */
  readonly connections: StoreConnections | undefined;
  /** False behind a pooler that parts connections among transactions: the locks of schedulers and gateways need a session. */
  readonly hasSessions: boolean;
  /** The server's clock less ours, in milliseconds; undefined where there is no server. */
  readonly clockAheadMs: number | undefined;
}

/** Under whichever limit leaves the least: the server's, the database's or the user's. */
export interface StoreConnections {
  readonly used: number;
  /** Without those that are reserved for superusers and the like. */
  readonly max: number;
  readonly limitOf: 'server' | 'database' | 'user';
}

const TABLE = 'kysely_migration';
/** A damaged file is told by the first of its faults. */
const FAULTS = 1;

/** Looks at `sqlite:<file>` or `postgres://…`. Rejects with StoreError: no server, a damaged file, another program's. A file is read as a whole for that. */
export async function inspectStore(url: string): Promise<StoreState> {
  const file = sqliteFileOf(url);
  try {
    return file === undefined ? await inspectPostgres(url) : inspectSqlite(file);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

function inspectSqlite(file: string): StoreState {
  const nothing = {
    kind: 'sqlite',
    connections: undefined,
    clockAheadMs: undefined,
    isWritable: mayWrite(path.dirname(file)) && (!existsSync(file) || mayWrite(file)),
    hasSessions: true,
  } as const;
  if (!existsSync(file)) return { ...nothing, schema: 'empty', latencyMs: 0, domains: 0, sizes: [] };
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
  const schema = schemaOf(applied);
  const all = (text: string) => database.prepare(text).all();
  const sizes = schema === 'current' ? largestFirst(all(sizesSql(false)), all(NOTED_SQL)) : [];
  return { ...nothing, schema, latencyMs, domains, sizes };
}

/** SQLite writes into the folder too: its log stands beside the file. */
function mayWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface ServerRow {
  readonly now: Date;
  readonly used: number;
  readonly max: number;
  readonly database_used: number;
  /** -1: none. */
  readonly database_max: number;
  readonly user_used: number;
  readonly user_max: number;
  readonly may_create: boolean | null;
  readonly is_replica: boolean;
  readonly migrations: string | null;
  readonly domains: string | null;
}

/** What kind of process another user's is only superusers are told: who is in a database is a client, or an autovacuum for a moment. */
const SERVER = `
  select clock_timestamp() as now,
    (select count(*) from pg_stat_activity where datid is not null) as used,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0) as max,
    (select count(*) from pg_stat_activity where datname = current_database()) as database_used,
    (select datconnlimit from pg_database where datname = current_database()) as database_max,
    (select count(*) from pg_stat_activity where usename = session_user and datid is not null) as user_used,
    (select rolconnlimit from pg_roles where rolname = session_user) as user_max,
    has_schema_privilege(current_schema(), 'create') as may_create,
    pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_replica,
    to_regclass(quote_ident(current_schema()) || '.${TABLE}') as migrations,
    to_regclass(quote_ident(current_schema()) || '.domains') as domains`;

async function inspectPostgres(url: string): Promise<StoreState> {
  const pool = openPool(url, { poolSize: 2 });
  try {
    const client = await pool.connect();
    try {
      const state = await inspectServer(client);
      return { ...state, hasSessions: await hasSessions(client, pool) };
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** Two connections that are open at once have a process of the server each, unless a pooler stands between. */
async function hasSessions(client: pg.PoolClient, pool: pg.Pool): Promise<boolean> {
  const processOf = async (asked: pg.PoolClient) =>
    (await asked.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const first = await processOf(client);
  // Where there is no room for a second one, that is told by the figures.
  const other = await pool.connect().catch(() => undefined);
  if (!other) return true;
  try {
    return (await processOf(other)) !== first;
  } finally {
    other.release();
  }
}

/** The look's own connection is none that is used. */
function connectionsOf(row: ServerRow): StoreConnections {
  const limits = [
    { used: row.used - 1, max: row.max, limitOf: 'server' },
    { used: row.database_used - 1, max: row.database_max, limitOf: 'database' },
    { used: row.user_used - 1, max: row.user_max, limitOf: 'user' },
  ] as const;
  return limits.filter(({ max }) => max >= 0).reduce((a, b) => (b.max - b.used < a.max - a.used ? b : a));
}

async function inspectServer(client: pg.PoolClient): Promise<Omit<StoreState, 'hasSessions'>> {
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
  const schema = schemaOf(names.rows.map(({ name }) => name));
  const all = async (text: string) => (await client.query(text)).rows;
  return {
    kind: 'postgres',
    schema,
    sizes: schema === 'current' ? largestFirst(await all(sizesSql(true)), await all(NOTED_SQL)) : [],
    latencyMs,
    domains: counted.rows[0]?.n ?? 0,
    isWritable: row.may_create === true && !row.is_replica,
    connections: connectionsOf(row),
    clockAheadMs: row.now.getTime() - answeredAt,
  };
}

/** Rows of `sizesSql` and `NOTED_SQL`. */
function largestFirst(sizes: readonly unknown[], noted: readonly unknown[]): TableGrowth[] {
  return growthOf(sizes as TableSize[], noted as NotedSize[])
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || b.rows - a.rows);
}

function schemaOf(applied: readonly string[]): StoreState['schema'] {
  if (applied.length === 0) return 'empty';
  if (applied.some((name) => !MIGRATION_NAMES.includes(name))) return 'newer';
  return applied.length < MIGRATION_NAMES.length ? 'older' : 'current';
}
