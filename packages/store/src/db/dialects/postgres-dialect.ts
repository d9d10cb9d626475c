// A Kysely dialect over pg: a pool of connections, one writer at a time, what runs often prepared by name.
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
import { PoolConnection, STATEMENT_TIMEOUT_MS, StatementNames } from './postgres-connection.ts';

/** How long a statement waits for another process's writing before it gives up with `busy`. */
const LOCK_TIMEOUT_MS = 15_000;
/** A process that stands still in a transaction must not keep all others from writing. */
const IDLE_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Connections of one process to one server, by default. */
export const DEFAULT_POOL_SIZE = 10;

/** Names the writers' lock among other programs' on the same server. */
const WRITERS = 0x5354_5241;
/** Waits for the writers' lock, which ends with the transaction. */
export const LOCK_WRITERS = `select pg_advisory_xact_lock(${WRITERS}, hashtext(current_schema()))`;
/** Begins a transaction that writes. */
export const BEGIN_WRITING = `begin; ${LOCK_WRITERS}`;

export interface PostgresOptions {
  /** At most so many connections at once. */
  readonly poolSize?: number;
}

export interface PoolOptions extends PostgresOptions {
  /** Queries are sent before the answers to earlier ones have come; there is no COPY then. */
  readonly isPipelined?: boolean;
}

/** Opens no connection yet: the first statement does. */
export function openPool(
  url: string,
  { poolSize = DEFAULT_POOL_SIZE, isPipelined = false }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    pipeline: isPipelined,
    max: poolSize,
    Client: Connecting,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'strata',
    types: { getTypeParser },
  });
  // A connection that the server closes is replaced when one is needed; without a listener it would end the process, whether
  // it was idle or stood between two statements of a transaction.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A connection of its own, beside the pool, for what lasts as long as the process; not connected yet. */
export function openClient(url: string, name: string): pg.Client {
  return new Connecting({ connectionString: url, keepAlive: true, application_name: name });
}

/** The time-out is for reaching the server. The pool's own would be for the wait in line as well, which many callers may make long. */
class Connecting extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

/**
 * Integers and sums as numbers, bytes as plain arrays: as SQLite gives them. Greater than 2^53 nothing here grows: times in
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

/** Whether a database is PostgreSQL, or what speaks its protocol. */
export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The schema names SQLite's types: here an integer has 64 bits, and texts compare by their bytes, as they do there. */
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
  readonly #names = new StatementNames();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    try {
      return new PoolConnection(await this.#pool.connect(), this.#names);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  /**
   * Writers take turns, as they do in SQLite: so the numbers of a log become visible in their order, and what is read before
   * it is written cannot change between. A reader sees one moment, and keeps nobody waiting. Who names a level of isolation locks
   * what it needs itself, and waits for no turn.
   */
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const own = connection as PoolConnection;
    try {
      await own.begin(beginOf(settings));
    } catch (error) {
      // Whose lock did not come has begun all the same: the connection would be of no use to the next.
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
    (connection as PoolConnection).release();
  }

  async destroy(): Promise<void> {
    if (!this.#pool.ended && !this.#pool.ending) await this.#pool.end();
  }
}

function beginOf({ accessMode, isolationLevel }: TransactionSettings): string {
  if (accessMode === 'read only') return 'begin isolation level repeatable read read only';
  return isolationLevel === undefined ? BEGIN_WRITING : `begin isolation level ${isolationLevel}`;
}
