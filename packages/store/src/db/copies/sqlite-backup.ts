// A SQLite store copied while others write to it, and made a store of its own where it comes back.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../dialects/sqlite-dialect.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { CopiedPart, StoreCopy } from './store-copy.ts';
import { NUMBERED, NUMBERS_LEFT_OUT, RECEIPTS_TOLD } from './store-copy.ts';

/** Pages between two looks at the signal: 1 MiB. */
const PAGES_AT_ONCE = 256;

export interface SqliteBackupOptions {
  /** Hears of the bytes copied so far, and of all. */
  readonly onProgress?: (progress: { readonly bytes: number; readonly totalBytes: number }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies the store in `file`, as of one moment, to `target`, where nothing is. Nobody waits meanwhile: a read transaction holds the
 * moment, and the write-ahead log grows by what is written. `target` is one whole file, without a log beside it. Rejects with
 * StoreError, or with the signal's reason; then `target` is gone.
 */
export async function backupSqlite(
  file: string,
  target: string,
  { onProgress, signal }: SqliteBackupOptions = {},
): Promise<StoreCopy> {
  if (!existsSync(file)) throw new StoreError('cannot-open', { cause: new Error(`there is no ${file}`) });
  if (existsSync(target)) throw new Error(`${target} is there already`);
  const source = openDatabase(file);
  try {
    const { page_size: pageBytes } = source.prepare('PRAGMA page_size').get() as { page_size: number };
    // The copy goes on in the transaction that it finds: so a write of another process does not begin it anew.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await backup(source, target, {
      rate: PAGES_AT_ONCE,
      progress: ({ totalPages, remainingPages }) => {
        signal?.throwIfAborted();
        onProgress?.({ bytes: (totalPages - remainingPages) * pageBytes, totalBytes: totalPages * pageBytes });
      },
    });
    const { size: bytes } = await stat(target);
    onProgress?.({ bytes, totalBytes: bytes });
    signal?.throwIfAborted();
    // Of one file: no log is to be forgotten beside it.
    using copy = new DatabaseSync(target);
    copy.exec('PRAGMA journal_mode = DELETE');
    // Pages are copied as they are, damaged ones too.
    refuseDamaged(copy);
    return describe(copy);
  } catch (error) {
    await rm(target, { force: true });
    throw storeErrorOf(error);
  } finally {
    source.close();
  }
}

/** Reads a copied file through and compares it with what was said of it. Throws StoreError `corrupt` or `copy-differs`. */
export function checkSqliteCopy(file: string, told: StoreCopy): void {
  try {
    using copy = openAsItIs(file);
    refuseDamaged(copy);
    const found = describe(copy);
    if (JSON.stringify(found) !== JSON.stringify(told))
      throw new StoreError('copy-differs', { cause: new Error('the rows are not those of the manifest') });
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** The ledger's ids of the receipts that the store told last. */
export function receiptsInSqliteCopy(file: string): string[] {
  using copy = openAsItIs(file);
  if (!copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'stream_events'").get()) return [];
  const rows = copy.prepare(`SELECT body FROM stream_events ORDER BY seq DESC LIMIT ${RECEIPTS_TOLD}`).iterate();
  const ids: string[] = [];
  for (const { body } of rows) ids.push(...receiptIn(String(body)));
  return ids;
}

/** `cr_` ids in the text of a signed event. */
export function receiptIn(text: string): readonly string[] {
  return /"ledger_receipt_id":"(cr_[a-z2-7]{32})"/.exec(text)?.slice(1) ?? [];
}

/**
 * Makes a copy a store of its own: snapshots of the index that others have of the one before fit no more, and the numbers that it
 * gave out after it was copied do not come back with another meaning.
 */
export function settleSqlite(file: string): void {
  using database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  database.prepare("UPDATE settings SET value = ? WHERE name = 'store-id'").run(randomUUID());
  for (const table of NUMBERED) {
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table)) continue;
    database
      .prepare(
        'INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)',
      )
      .run(table);
    database.prepare('UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?').run(NUMBERS_LEFT_OUT, table);
  }
  database.exec('COMMIT');
}

function refuseDamaged(database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (first?.quick_check !== 'ok') throw new StoreError('corrupt', { cause: new Error(first?.quick_check) });
}

/** Nothing is written, not even beside it: a backup may lie where nothing can be. */
function openAsItIs(file: string): DatabaseSync {
  return new DatabaseSync(`file:${encodeURI(file).replaceAll(/[?#]/g, encodeURIComponent)}?immutable=1`, {
    readOnly: true,
  });
}

function describe(database: DatabaseSync): StoreCopy {
  const names = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'kysely_%' ORDER BY name",
    )
    .all() as { name: string }[];
  const tables: CopiedPart[] = names.map(({ name }) => {
    const { n } = database.prepare(`SELECT count(*) AS n FROM "${name}"`).get() as { n: number };
    return { table: name, rows: n };
  });
  const [last] = database.prepare('SELECT name FROM kysely_migration ORDER BY name DESC LIMIT 1').all() as {
    name: string;
  }[];
  return { kind: 'sqlite', schema: last?.name ?? '', tables };
}
