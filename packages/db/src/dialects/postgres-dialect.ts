// A Kysely dialect over pg: a connection pool, the locks of writers, frequent statements prepared by name.
import {
  type DatabaseConnection,
  type DataTypeNode,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { storeErrorOf } from '../store-error.ts';
import { ForgottenConnections } from './forgotten-connections.ts';
import { identifyServer, PoolConnection, STATEMENT_TIMEOUT_MS, StatementNames } from './postgres-connection.ts';

/** How long a statement waits for another process's lock before it fails with `busy`. */
const LOCK_TIMEOUT_MS = 15_000;
/** Ends a transaction whose process has stalled, so that it does not block all writers. */
const IDLE_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Default number of connections of one process to one server. */
export const DEFAULT_POOL_SIZE = 10;

/** Distinguish these locks from advisory locks of other programs on the same server. */
const [WRITERS, NUMBERS] = [0x5354_5241, 0x5354_524e] as const;
const lock = (key: number, mode: '' | '_shared' = '') =>
  `select pg_advisory_xact_lock${mode}(${key}, hashtext(current_schema()))`;
/** Waits for the writer lock, which is released at the end of the transaction. */
export const LOCK_WRITERS = lock(WRITERS);
/** Shares the writer lock with transactions that do the same, and excludes all other writers. */
export const SHARE_WRITERS = lock(WRITERS, '_shared');
/** The name of a transaction setting: `yes` if the transaction writes nothing, because its plan is outdated. */
export const IS_OUTDATED = 'strata.is_outdated';
/** Held from the first number of a log that a transaction with the shared lock assigns, to its end. */
export const LOCK_NUMBERS = `${lock(NUMBERS)} where current_setting('${IS_OUTDATED}', true) is distinct from 'yes'`;
/** Begins a write transaction. */
export const BEGIN_WRITING = `begin; ${LOCK_WRITERS}`;

export interface PostgresOptions {
  /** Maximum of open connections. */
  readonly poolSize?: number;
}

export interface PoolOptions extends PostgresOptions {
  /** Sends queries before earlier responses have arrived; excludes COPY. */
  readonly isPipelined?: boolean;
}

/**
 * Whether the URL is that of a pooler in transaction mode (`?pgbouncer=true`), which refuses these settings at the start
 * of a connection, and gives each transaction another one, without its prepared statements.
 */
const isBehindPooler = (url: string): boolean => /[?&]pgbouncer=true(?:&|$)/.test(url);

/** Opens no connection; the first statement does. */
export function openPool(
  url: string,
  { poolSize = DEFAULT_POOL_SIZE, isPipelined = false }: PoolOptions = {},
): pg.Pool {
  const limits = {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
  };
  const pool = new pg.Pool({
    connectionString: url,
    pipeline: isPipelined,
    max: poolSize,
    Client: TimedClient,
    ...(isBehindPooler(url) ? {} : { ...limits, onConnect: (client) => identifyServer(client, CONNECT_TIMEOUT_MS) }),
    keepAlive: true,
    application_name: 'strata',
    types: { getTypeParser },
  });
  // A connection that the server closes is replaced when needed. Without a listener the error would end the process, both
  // for idle connections and between two statements of a transaction.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A connection outside of the pool, for the lifetime of the process; not connected yet. */
export function openClient(url: string, name: string): pg.Client {
  return new TimedClient({ connectionString: url, keepAlive: true, application_name: name });
}

/** Limits the time to reach the server. The pool's own time-out would include the wait for a free connection. */
class TimedClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

/**
 * Integers and sums as numbers, bytes as plain arrays, as SQLite returns them. All values stay below 2^53: times in
 * microseconds reach it in the year 2255.
 */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  const { builtins } = pg.types;
  if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number;
  if (oid === builtins.BYTEA) return (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
  return pg.types.getTypeParser(oid, format as 'text');
}

export function postgresDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  };
}

/** Whether a database is PostgreSQL, or speaks its protocol. */
export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The schema uses SQLite's types. As in SQLite, an integer has 64 bits and text compares by bytes. */
const TYPES: Readonly<Record<string, string>> = {
  integer: 'bigint',
  real: 'double precision',
  blob: 'bytea',
  text: 'text collate "C"',
};

class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(TYPES[node.dataType] ?? node.dataType);
  }
}

class PoolDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames | undefined;
  /** Undefined for a single connection, which nothing waits for. */
  readonly #forgotten: ForgottenConnections | undefined;

  constructor(pool: pg.Pool) {
    const { connectionString: url } = pool.options;
    this.#pool = pool;
    this.#names = isBehindPooler(url ?? '') ? undefined : new StatementNames();
    this.#forgotten = url === undefined ? undefined : new ForgottenConnections(() => openClient(url, 'strata'));
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    try {
      const connection = new PoolConnection(await this.#pool.connect(), this.#names);
      this.#forgotten?.add(connection);
      return connection;
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  /**
   * A write transaction takes the writer lock, as in SQLite: numbers of a log become visible in order, and rows read before
   * a write cannot change in between. A reader sees one snapshot and blocks no writer. A transaction with an explicit
   * isolation level begins without a lock: `writeInParallel` takes its own.
   */
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const own = connection as PoolConnection;
    try {
      await own.begin(beginOf(settings));
    } catch (error) {
      // BEGIN has succeeded even if the lock timed out: roll back, so that the connection is usable.
      await own.rollback();
      throw error;
    }
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as PoolConnection).commit();
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as PoolConnection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#forgotten?.delete(connection as PoolConnection);
    (connection as PoolConnection).release();
  }

  async destroy(): Promise<void> {
    this.#forgotten?.[Symbol.dispose]();
    if (!this.#pool.ended && !this.#pool.ending) await this.#pool.end();
  }
}

function beginOf({ accessMode, isolationLevel }: TransactionSettings): string {
  if (accessMode === 'read only') return 'begin isolation level repeatable read read only';
  return isolationLevel === undefined ? BEGIN_WRITING : `begin isolation level ${isolationLevel}`;
}

export interface PoolFigures {
  readonly size: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** SQLite has one connection, which has no pool. */
export function poolFigures(pool: pg.Pool | undefined): PoolFigures {
  if (pool === undefined) return { size: 1, idle: 1, waiting: 0 };
  return { size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}
