// Opens the database of a ledger: a SQLite file of one service, or the PostgreSQL database of several nodes.
import { accessSync, constants, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openPool, postgresDialect, StoreError, sqliteDialect, storeErrorOf, tracedDialect } from '@strata/db';
import { giveToOwnerOf, syncDirectory } from '@strata/files';
import { Kysely, sql } from 'kysely';
import { LogError, type LogErrorCode, logErrorFrom } from '../log-error.ts';
import { type LedgerDatabase, type LedgerTables, ledgerTablesIn } from './ledger-tables.ts';

/** How long to wait for another process, which reads or writes a backup. */
const OPTIONS = { timeout: 5_000 };
// A temporary file would have each page of the index of hashes that a commit changes. On macOS fsync leaves data in the cache
// of the disk; elsewhere the last two have no effect.
const PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1`;

/**
 * The tables of the store's migration `013-ledger`. Hashes are in random order, so that each leaf changes another page of their index:
 * with 8 bytes of each hash instead of 32 there are fewer pages to write.
 */
const TABLES = `
  create table if not exists ledger_head (id integer primary key, origin text not null, size integer not null,
    root blob not null, edge blob not null, note text not null) strict;
  create table if not exists ledger_leaves (leaf_index integer primary key, hash blob not null, leaf blob not null) strict;
  create index if not exists ledger_leaves_by_hash on ledger_leaves (substr(hash, 1, 8));
  create table if not exists ledger_subtrees (level integer not null, subtree_index integer not null, hash blob not null,
    primary key (level, subtree_index)) strict, without rowid;
  create table if not exists ledger_keys (kid text primary key, key text not null) strict`;

/**
 * The ledger in a SQLite file, which is created if it does not exist. It is not in the file of the store, whose commits do not wait
 * for the disk: a commit here is durable (`synchronous = FULL`). Rejects with LogError.
 */
export async function openLedgerFile(file: string): Promise<LedgerTables & AsyncDisposable> {
  let database: DatabaseSync | undefined;
  try {
    if (!existsSync(file)) await makeFile(file);
    database = new DatabaseSync(file, OPTIONS);
    database.exec(PRAGMAS);
    database.exec(TABLES);
  } catch (cause) {
    database?.close();
    throw openError(file, cause);
  }
  const db = new Kysely<LedgerDatabase>({
    dialect: tracedDialect(sqliteDialect(database, { file, options: OPTIONS, pragmas: PRAGMAS }), 'sqlite'),
  });
  return { ...ledgerTablesIn(db), [Symbol.asyncDispose]: () => db.destroy() };
}

function openError(file: string, cause: unknown): LogError {
  const doing = `open the ledger ${file}`;
  const error = storeErrorOf(cause);
  // A system error of creating the file has its reason; SQLite does not say what it may not access.
  if (!(error instanceof StoreError) || (cause as { readonly syscall?: unknown }).syscall !== undefined)
    return logErrorFrom(cause, doing);
  try {
    for (const at of [path.dirname(file), file]) accessSync(at, constants.R_OK | constants.W_OK);
  } catch (denied) {
    return logErrorFrom(denied, doing);
  }
  const codes: Partial<Record<string, LogErrorCode>> = { 'disk-full': 'disk-full', 'read-only': 'read-only' };
  return new LogError(codes[error.code] ?? 'io', `${doing}: ${error.message}`, { cause });
}

/** An empty file is an empty database. */
async function makeFile(file: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await giveToOwnerOf(path.dirname(file), handle);
  } finally {
    await handle.close();
  }
  await syncDirectory(path.dirname(file));
}

/**
 * The ledger of the database of a `postgres://` URL; the schema is not upgraded. Undefined if the database has no ledger: the schema
 * is older, or no node was started. Rejects with StoreError.
 */
export async function openLedgerTables(url: string): Promise<(LedgerTables & AsyncDisposable) | undefined> {
  const db = new Kysely<LedgerDatabase>({ dialect: postgresDialect(openPool(url, { poolSize: 1 })) });
  try {
    const { rows } = await sql<{ name: string | null }>`select to_regclass('ledger_head') as name`.execute(db);
    const tables = ledgerTablesIn(db);
    if (rows[0]?.name && (await tables.log.head())) return { ...tables, [Symbol.asyncDispose]: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw storeErrorOf(error);
  }
  await db.destroy();
  return undefined;
}
