// A Kysely dialect over pg: a pool of connections, one writer at a time, what runs often prepared by name.
import {
  CompiledQuery,
  type DatabaseConnection,
  type DataTypeNode,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { isConnectionLost, storeErrorOf } from './store-error.ts';

/** How long a statement may take, and how long it waits for another process's writing before it gives up with `busy`. */
const STATEMENT_TIMEOUT_MS = 60_000;
const LOCK_TIMEOUT_MS = 15_000;
/** A process that stands still in a transaction must not keep all others from writing. */
const IDLE_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that says nothing at all, not even that a statement took too long, is given up. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 10_000;
/** Distinct statements that are prepared; what is built with varying lists beyond them is planned each time. */
const MAX_PREPARED = 256;
/** Statements with long texts are inserts of many rows, hardly ever the same twice. */
const MAX_PREPARED_LENGTH = 2_000;

/** Connections of one process to one server, by default. */
export const DEFAULT_POOL_SIZE = 10;

/** Names the writers' lock among other programs' on the same server. */
const WRITERS = 0x5354_5241;
/** Begins a transaction that writes, when it is its turn. */
export const BEGIN_WRITING = `begin; select pg_advisory_xact_lock(${WRITERS}, hashtext(current_schema()))`;

export interface PostgresOptions {
  /** At most so many connections at once. */
  readonly poolSize?: number;
}

/** Opens no connection yet: the first statement does. */
export function openPool(url: string, { poolSize = DEFAULT_POOL_SIZE }: PostgresOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
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
    try {
      await connection.executeQuery(CompiledQuery.raw(beginOf(settings)));
    } catch (error) {
      // Whose turn did not come has begun all the same: the connection would be of no use to the next.
      await this.rollbackTransaction(connection);
      throw error;
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PoolConnection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const lost = connection as PoolConnection;
    // The server rolls back what a lost connection had begun.
    if (!lost.isLost) await connection.executeQuery(CompiledQuery.raw('rollback'));
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

/** PostgreSQL keeps no NUL in a text: it becomes what an unreadable character becomes. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** The first statements that come are prepared, in each connection once. */
class StatementNames {
  readonly #names = new Map<string, string>();

  of(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || sql.length > MAX_PREPARED_LENGTH || this.#names.size >= MAX_PREPARED) return known;
    const name = `s${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}

class PoolConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames;
  #lost: Error | undefined;

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // Only a query without values may be several statements, and these are not prepared.
    const name = parameters.length === 0 ? undefined : this.#names.of(sql);
    const { rows, rowCount } = await this.#ask({
      text: sql,
      values: parameters.map((value) => (typeof value === 'string' ? withoutNul(value) : value)),
      ...(name ? { name } : {}),
    });
    const numAffectedRows = BigInt(rowCount ?? 0);
    return { rows: (rows ?? []) as Row[], numAffectedRows };
  }

  /** After an error that nobody minded the server answers COMMIT with ROLLBACK: what was written is lost, and that must be told. */
  async commit(): Promise<void> {
    const { command } = await this.#ask({ text: 'commit' });
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back by the server');
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('this connection does not stream: page by key instead');
  }

  /** A connection that broke is not used again. */
  release(): void {
    this.#client.release(this.#lost);
  }

  async #ask(query: { readonly text: string; readonly values?: unknown[]; readonly name?: string }) {
    // pg takes it with each query, but its types do not say so.
    const asked: pg.QueryConfig & { readonly query_timeout: number } = { ...query, query_timeout: ANSWER_TIMEOUT_MS };
    try {
      return await this.#client.query(asked);
    } catch (error) {
      if (isConnectionLost(error)) this.#lost = error as Error;
      throw storeErrorOf(error);
    }
  }
}
