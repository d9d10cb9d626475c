// Opens the database of a URL and brings its schema up to date.
import { type Dialect, Kysely } from 'kysely';
import type pg from 'pg';
import { openPool, type PostgresOptions, postgresDialect } from './dialects/postgres-dialect.ts';
import { openFile, sqliteDialect, sqliteFile } from './dialects/sqlite-dialect.ts';
import { tracedDialect } from './dialects/traced-dialect.ts';
import { sqliteFileOf } from './file-system.ts';
import { type Migrations, migrate } from './migrations/migrator.ts';

export interface OpenDatabase<Tables> {
  readonly db: Kysely<Tables>;
  /** Undefined on SQLite. */
  readonly pool: pg.Pool | undefined;
  /** Undefined on PostgreSQL; `:memory:` for a temporary store. */
  readonly file: string | undefined;
}

export interface DatabaseOptions extends PostgresOptions {
  /** Under load a thread runs the transactions and large statements of a SQLite file. */
  readonly isBusy?: boolean;
}

/**
 * Opens `sqlite:<path>` (`sqlite::memory:` for a temporary store), creating the file, or `postgres://…`, and upgrades the schema.
 * Rejects with StoreError if the file is damaged, is not a database, is not writable, or was written by a newer version.
 */
export async function openDatabase<Tables>(
  url: string,
  migrations: Migrations,
  { isBusy = false, ...options }: DatabaseOptions = {},
): Promise<OpenDatabase<Tables>> {
  const file = sqliteFileOf(url);
  if (file === undefined && !/^postgres(?:ql)?:\/\//.test(url))
    throw new Error('the database URL must begin with sqlite: and name a file, or with postgres:// and name a server');
  const pool = file === undefined ? openPool(url, { ...options, isPipelined: true }) : undefined;
  const db = new Kysely<Tables>({ dialect: pool ? pooledDialect(pool) : fileDialect(file ?? '', isBusy) });
  try {
    await migrate(db, migrations);
    return { db, pool, file };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

export const pooledDialect = (pool: pg.Pool): Dialect => tracedDialect(postgresDialect(pool), 'postgresql');
const fileDialect = (file: string, isBusy: boolean): Dialect =>
  tracedDialect(sqliteDialect(openFile(file), isBusy && file !== ':memory:' ? sqliteFile(file) : undefined), 'sqlite');
