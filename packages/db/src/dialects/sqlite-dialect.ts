// A Kysely dialect over node:sqlite: one connection, used exclusively, with cached prepared statements.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { StoreError, storeErrorOf } from '../store-error.ts';

/** Milliseconds to wait for another process's write lock before giving up with `busy`. */
const BUSY_TIMEOUT_MS = 5_000;
/** Kysely's own table, the first that it creates: a file with tables but without it belongs to another program. */
const MIGRATION_TABLE = 'kysely_migration';
/** There are few distinct statements; the limit guards against queries built with varying lists. */
const MAX_STATEMENTS = 256;

/** Opens the file in WAL mode with foreign keys on. Throws StoreError. */
export function openFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    // NORMAL in WAL mode: a killed process loses nothing; a power failure may lose the last transactions, never consistency.
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY',
    );
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    if (tables.length > 0 && !tables.some(({ name }) => name === MIGRATION_TABLE)) {
      throw new StoreError('not-a-database', { cause: new Error('it holds the tables of another program') });
    }
    return database;
  } catch (error) {
    database?.close();
    throw storeErrorOf(error);
  }
}

export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new NodeSqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(database),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** SQLite supports transactional DDL, which Kysely's adapter denies; without it a kill could leave a partial schema. */
class NodeSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: NodeSqliteConnection;
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#connection = new NodeSqliteConnection(database);
  }

  async init(): Promise<void> {}

  /** There is one connection: callers queue for it, so that no statement runs in another caller's transaction. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#free;
    let release = () => {};
    this.#free = new Promise((resolve) => {
      release = resolve;
    });
    await previous;
    this.#release = release;
    return this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    // IMMEDIATE: a read transaction that upgrades to write fails at once instead of waiting for the lock.
    await connection.executeQuery(CompiledQuery.raw(accessMode === 'read only' ? 'BEGIN' : 'BEGIN IMMEDIATE'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite rolls back by itself on some errors, for example a full disk.
    if (this.#database.isTransaction) await connection.executeQuery(CompiledQuery.raw('ROLLBACK'));
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async destroy(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const { statement, returnsRows } = this.#prepare(query.sql);
      const parameters = query.parameters as SQLInputValue[];
      if (returnsRows) return { rows: statement.all(...parameters) as Row[] };
      const { changes, lastInsertRowid } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('this connection does not support streaming: page by key instead');
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.#database.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }
}
