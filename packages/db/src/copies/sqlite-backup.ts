// Backs up a SQLite store while it is in use, and prepares a restored file.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { openFile } from '../dialects/sqlite-dialect.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';
import { type CopiedPart, SKIPPED_NUMBERS, type StoreCopy } from './copy-manifest.ts';

/** Pages between two checks of the signal: 1 MiB. */
const PAGES_PER_STEP = 256;

export interface SqliteBackupOptions {
  /** Reports the bytes copied so far, and the total. */
  readonly onProgress?: (progress: { readonly bytes: number; readonly totalBytes: number }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies a snapshot of the store in `file` to `target`, which must not exist. Writers are not blocked: a read transaction
 * holds the snapshot, and the write-ahead log grows during the backup. `target` is a single file without a write-ahead log.
 * Rejects with StoreError, or with the signal's reason; then `target` is deleted.
 */
export async function backupSqlite(
  file: string,
  target: string,
  { onProgress, signal }: SqliteBackupOptions = {},
): Promise<StoreCopy> {
  if (!existsSync(file)) throw new StoreError('cannot-open', { cause: new Error(`there is no ${file}`) });
  if (existsSync(target)) throw new Error(`${target} already exists`);
  const source = openFile(file);
  try {
    const { page_size: pageBytes } = source.prepare('PRAGMA page_size').get() as { page_size: number };
    // SQLite's backup reuses the open transaction, so that a write of another process does not restart it.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await backup(source, target, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => {
        signal?.throwIfAborted();
        onProgress?.({ bytes: (totalPages - remainingPages) * pageBytes, totalBytes: totalPages * pageBytes });
      },
    });
    const { size: bytes } = await stat(target);
    onProgress?.({ bytes, totalBytes: bytes });
    signal?.throwIfAborted();
    // Leaves WAL mode, so that the backup is one file.
    using copy = new DatabaseSync(target);
    copy.exec('PRAGMA journal_mode = DELETE');
    // The backup copies damaged pages unchanged.
    refuseDamaged(copy);
    return describe(copy);
  } catch (error) {
    await rm(target, { force: true });
    throw storeErrorOf(error);
  } finally {
    source.close();
  }
}

/** Checks the integrity of a copied file and compares it with its manifest. Throws StoreError `corrupt` or `copy-differs`. */
export function checkSqliteCopy(file: string, manifest: StoreCopy): void {
  try {
    using copy = openImmutable(file);
    refuseDamaged(copy);
    const found = describe(copy);
    if (JSON.stringify(found) !== JSON.stringify(manifest))
      throw new StoreError('copy-differs', { cause: new Error('the rows are not those of the manifest') });
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/**
 * Gives a restored file its own identity: a new store id, so that existing index snapshots no longer match, and a gap in
 * the sequences, so that numbers assigned after the backup are not assigned again.
 */
export function prepareRestoredSqlite({ numbered }: Pick<StoreSchema, 'numbered'>, file: string): void {
  using database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  database.prepare("UPDATE settings SET value = ? WHERE name = 'store-id'").run(randomUUID());
  for (const table of numbered) {
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table)) continue;
    database
      .prepare(
        'INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)',
      )
      .run(table);
    database.prepare('UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?').run(SKIPPED_NUMBERS, table);
  }
  database.exec('COMMIT');
}

function refuseDamaged(database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (first?.quick_check !== 'ok') throw new StoreError('corrupt', { cause: new Error(first?.quick_check) });
}

/** Writes nothing, not even beside the file: a backup may be on a read-only medium. */
export function openImmutable(file: string): DatabaseSync {
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
