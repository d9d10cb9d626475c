// A SQLite store as the source or the target of a copy.
import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Kysely } from 'kysely';
import { openFile, sqliteDialect } from '../dialects/sqlite-dialect.ts';
import { type Migrations, migrate } from '../migrations/migrator.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import { type CopyEnd, PAGE_ROWS, type Row, type StoreRows } from './store-rows.ts';

/** In exclusive mode a write transaction begins only without other connections, also ones that wait, and none opens until it closes. */
const EXCLUDE = 'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE';
/** The first read ends the exclusive lock. */
const ADMIT = 'PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema';

/**
 * A target is created. Closing it makes the copy durable: the write-ahead log is written into the file. Rejects with StoreError `in-use`
 * if the file has other connections.
 */
export async function openSqliteEnd(file: string, migrations: Migrations, isSource: boolean): Promise<CopyEnd> {
  if (isSource && !existsSync(file)) throw new StoreError('cannot-open', { cause: new Error(`there is no ${file}`) });
  const database = openFile(file);
  const db = new Kysely<unknown>({ dialect: sqliteDialect(database) });
  await using opening = new AsyncDisposableStack();
  // Kysely closes it only if it was used.
  opening.defer(() => {
    if (database.isOpen) database.close();
  });
  opening.defer(() => db.destroy());
  begin(database, EXCLUDE);
  database.exec('COMMIT');
  await migrate(db, migrations);
  if (isSource) database.exec(ADMIT);
  const opened = opening.move();
  const inTransaction = async <T>(work: (rows: StoreRows) => Promise<T>): Promise<T> => {
    begin(database, 'BEGIN IMMEDIATE');
    try {
      const result = await work(rowsOf(database));
      database.exec('COMMIT');
      return result;
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  };
  return {
    // A writer of the source waits, so that it is connected at the end, or gives up.
    reading: inTransaction,
    writing: inTransaction,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function begin(database: DatabaseSync, text: string): void {
  try {
    database.exec(text);
  } catch (cause) {
    const error = storeErrorOf(cause);
    throw error instanceof StoreError && error.code === 'busy' ? new StoreError('in-use', { cause }) : error;
  }
}

/** Changes with each commit of another connection. */
const versionOf = (database: DatabaseSync) => database.prepare('PRAGMA data_version').get()?.data_version;

function rowsOf(database: DatabaseSync): StoreRows {
  const all = (text: string, ...values: SQLInputValue[]) => database.prepare(text).all(...values) as Row[];
  return {
    run: async (text) => all(text),
    async refuseInUse() {
      const before = versionOf(database);
      database.exec('COMMIT');
      // Held until the target has committed.
      begin(database, EXCLUDE);
      if (versionOf(database) !== before) throw new StoreError('in-use', { cause: new Error('a process wrote') });
    },
    columns: async (table) =>
      all('select name from pragma_table_info(?) order by name', table).map(({ name }) => String(name)),
    async *pages({ table, key }) {
      const names = key.join(', ');
      const after = `where (${names}) > (${key.map(() => '?').join(', ')})`;
      for (let last: Row | undefined; ; ) {
        const values = last ? key.map((name) => last?.[name] as SQLInputValue) : [];
        const page = all(`select * from ${table} ${last ? after : ''} order by ${names} limit ${PAGE_ROWS}`, ...values);
        last = page.at(-1);
        if (!last) return;
        await yieldToEventLoop();
        yield page;
      }
    },
    async insert({ table, columns }, pages) {
      const list = columns.map((name) => `"${name}"`).join(', ');
      const insert = database.prepare(`insert into ${table} (${list}) values (${columns.map(() => '?').join(', ')})`);
      for await (const page of pages)
        for (const row of page) insert.run(...columns.map((name) => row[name] as SQLInputValue));
    },
    lastNumber: async ({ table }) => Number(all('select seq from sqlite_sequence where name = ?', table)[0]?.seq ?? 0),
    async setLastNumber({ table }, last) {
      all('delete from sqlite_sequence where name = ?', table);
      all('insert into sqlite_sequence (name, seq) values (?, ?)', table, last);
    },
  };
}
