// Describes a database before it is used. Changes nothing and applies no migration.

import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { openPool } from '../dialects/postgres-dialect.ts';
import { sqliteFileOf } from '../file-system.ts';
import { compareSchema, type Migrations, type SchemaState } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';
import { growthOf, NOTED_SQL, type NotedSize, sizesSql, type TableGrowth, type TableSize } from './table-sizes.ts';

export interface StoreState {
  readonly kind: 'sqlite' | 'postgres';
  readonly schema: Exclude<SchemaState, 'foreign'>;
  /** The last of five round trips, when connection and statement are warm. */
  readonly latencyMs: number;
  /** Rows of the main table. */
  readonly counted: number;
  /** Of non-empty tables, the largest first; empty unless the schema is current. */
  readonly sizes: readonly TableGrowth[];
  /** Whether tables can be created and rows written; for a file that does not exist, whether it can be created. */
  readonly isWritable: boolean;
  /** Undefined for SQLite. */
  readonly connections: StoreConnections | undefined;
  /** False behind a pooler in transaction mode: the locks of schedulers and gateways need a session. */
  readonly hasSessions: boolean;
  /** The server's clock minus this machine's, in milliseconds; undefined for SQLite. */
  readonly clockAheadMs: number | undefined;
}

/** The tightest of the limits of the server, the database and the user. */
export interface StoreConnections {
  readonly used: number;
  /** Without reserved connections. */
  readonly max: number;
  readonly limitOf: 'server' | 'database' | 'user';
}

/** Without `sized`, no sizes are recorded, and none reported. */
export type InspectedSchema = Pick<StoreSchema, 'migrations' | 'counted'> & Partial<Pick<StoreSchema, 'sized'>>;

const TABLE = 'kysely_migration';
/** The first fault is enough to report a damaged file. */
const FAULTS = 1;
const ROUND_TRIPS = 5;

/**
 * Inspects `sqlite:<file>` or `postgres://…`. Rejects with StoreError if there is no server, the file is damaged, or it belongs
 * to another service or program. Reads the complete file to find damage.
 */
export async function inspectStore(of: InspectedSchema, url: string): Promise<StoreState> {
  const file = sqliteFileOf(url);
  try {
    return file === undefined ? await inspectPostgres(of, url) : inspectSqlite(of, file);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

function inspectSqlite(of: InspectedSchema, file: string): StoreState {
  const base = {
    kind: 'sqlite',
    connections: undefined,
    clockAheadMs: undefined,
    isWritable: mayWrite(path.dirname(file)) && (!existsSync(file) || mayWrite(file)),
    hasSessions: true,
  } as const;
  if (!existsSync(file)) return { ...base, schema: 'empty', latencyMs: 0, counted: 0, sizes: [] };
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
  const count = () => Number(database.prepare(`select count(*) as n from ${of.counted}`).get()?.n);
  const counted = has(of.counted) ? count() : 0;
  const probe = database.prepare('select 1');
  let latencyMs = 0;
  for (let round = 0; round < ROUND_TRIPS; round++) {
    const startedAt = performance.now();
    probe.get();
    latencyMs = performance.now() - startedAt;
  }
  const schema = schemaOf(applied, of.migrations);
  const all = (text: string) => database.prepare(text).all();
  const { sized } = of;
  const sizes = schema === 'current' && sized ? largestFirst(all(sizesSql(sized, false)), all(NOTED_SQL)) : [];
  return { ...base, schema, latencyMs, counted, sizes };
}

/** SQLite also writes to the directory, which holds the write-ahead log. */
function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
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
  /** -1: unlimited. */
  readonly database_max: number;
  readonly user_used: number;
  readonly user_max: number;
  readonly may_create: boolean | null;
  readonly is_replica: boolean;
  readonly migrations: string | null;
  readonly counted: string | null;
}

/** Only superusers see the kind of another user's process: sessions with a database are clients, or briefly an autovacuum worker. */
const serverSql = (counted: string) => `
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
    to_regclass(quote_ident(current_schema()) || '.${counted}') as counted`;

async function inspectPostgres(of: InspectedSchema, url: string): Promise<StoreState> {
  const pool = openPool(url, { poolSize: 2 });
  try {
    const client = await pool.connect();
    try {
      const state = await inspectServer(of, client);
      return { ...state, hasSessions: await hasSessions(client, pool) };
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** Two open connections have different server processes, unless a pooler is between. */
async function hasSessions(client: pg.PoolClient, pool: pg.Pool): Promise<boolean> {
  const processOf = async (connection: pg.PoolClient) =>
    (await connection.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const first = await processOf(client);
  // If the server has no free connection, `connections` reports it.
  const second = await pool.connect().catch(() => undefined);
  if (!second) return true;
  try {
    return (await processOf(second)) !== first;
  } finally {
    second.release();
  }
}

/** Does not count the connection of the inspection. */
function connectionsOf(row: ServerRow): StoreConnections {
  const limits = [
    { used: row.used - 1, max: row.max, limitOf: 'server' },
    { used: row.database_used - 1, max: row.database_max, limitOf: 'database' },
    { used: row.user_used - 1, max: row.user_max, limitOf: 'user' },
  ] as const;
  return limits.filter(({ max }) => max >= 0).reduce((a, b) => (b.max - b.used < a.max - a.used ? b : a));
}

async function inspectServer(of: InspectedSchema, client: pg.PoolClient): Promise<Omit<StoreState, 'hasSessions'>> {
  let latencyMs = 0;
  for (let round = 0; round < ROUND_TRIPS; round++) {
    const startedAt = performance.now();
    await client.query('select 1');
    latencyMs = performance.now() - startedAt;
  }
  const { rows } = await client.query<ServerRow>(serverSql(of.counted));
  const answeredAt = Date.now();
  const [row] = rows;
  if (row === undefined) throw new Error('the server returned no row about itself');
  const names = row.migrations ? await client.query<{ name: string }>(`select name from ${TABLE}`) : { rows: [] };
  const count = () => client.query<{ n: number }>(`select count(*) as n from ${of.counted}`);
  const counted = row.counted ? await count() : { rows: [] };
  const schema = schemaOf(
    names.rows.map(({ name }) => name),
    of.migrations,
  );
  const all = async (text: string) => (await client.query(text)).rows;
  return {
    kind: 'postgres',
    schema,
    sizes:
      schema === 'current' && of.sized ? largestFirst(await all(sizesSql(of.sized, true)), await all(NOTED_SQL)) : [],
    latencyMs,
    counted: counted.rows[0]?.n ?? 0,
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

function schemaOf(applied: readonly string[], migrations: Migrations): StoreState['schema'] {
  const state = compareSchema(applied, migrations);
  if (state === 'foreign') throw new StoreError('names-taken');
  return state;
}
