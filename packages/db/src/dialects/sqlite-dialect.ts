// A Kysely dialect over node:sqlite: one connection, used exclusively; that of a busy file alternates with one in a thread.
import { DatabaseSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { StoreError, storeErrorOf } from '../store-error.ts';
import { ROLLBACK, SqliteConnection } from './sqlite-connection.ts';
import { type SqliteFile, SqliteThread } from './sqlite-thread.ts';

/** Milliseconds to wait for another process's write lock before giving up with `busy`. */
const BUSY_TIMEOUT_MS = 5_000;
/** Kysely's own table, the first that it creates: a file with tables but without it belongs to another program. */
const MIGRATION_TABLE = 'kysely_migration';
// NORMAL in WAL mode: a killed process loses nothing; a power failure may lose the last transactions, never consistency.
const PRAGMAS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY';

/** How `openFile` opens a file, for a thread that opens it too. */
export const sqliteFile = (file: string): SqliteFile => ({
  ...{ file, pragmas: PRAGMAS },
  options: { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true },
});

/** Opens the file in WAL mode with foreign keys on. Throws StoreError. */
export function openFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const { options, pragmas } = sqliteFile(file);
    database = new DatabaseSync(file, options);
    database.exec(pragmas);
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

/** `busy`: the same file, whose transactions a thread takes over when there are many, so that the disk does not block this one. */
export function sqliteDialect(database: DatabaseSync, busy?: SqliteFile): Dialect {
  return {
    createAdapter: () => new NodeSqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(database, busy),
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
  readonly #connection: SqliteConnection;
  readonly #thread: SqliteThread | undefined;
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(database: DatabaseSync, busy: SqliteFile | undefined) {
    this.#database = database;
    this.#connection = new SqliteConnection(database);
    this.#thread = busy && new SqliteThread(busy, this.#connection);
  }

  async init(): Promise<void> {}

  /** One connection is in use at a time: callers queue, so that no statement runs in another caller's transaction. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#free;
    let release = () => {};
    this.#free = new Promise((resolve) => {
      release = resolve;
    });
    await previous;
    this.#release = release;
    return this.#thread?.connection() ?? this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    // IMMEDIATE: a read transaction that upgrades to write fails at once instead of waiting for the lock.
    await connection.executeQuery(CompiledQuery.raw(accessMode === 'read only' ? 'BEGIN' : 'BEGIN IMMEDIATE'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(ROLLBACK));
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async destroy(): Promise<void> {
    if (this.#thread) {
      await this.#free;
      await this.#thread[Symbol.asyncDispose]();
    }
    if (this.#database.isOpen) this.#database.close();
  }
}
