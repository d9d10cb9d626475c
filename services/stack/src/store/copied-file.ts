// The mark of a SQLite file whose store was copied to PostgreSQL: what is written to it later is missing there.
import { DatabaseSync } from 'node:sqlite';
import { StoreError, storeErrorOf } from '@strata/db';
import { StartError } from '@strata/http';
import { type Kysely, sql } from 'kysely';

const MINUTE_MS = 60_000;

/**
 * Marks an existing file with the time at which its copy began, or removes the mark; returns whether it had one. It is in the header,
 * which `copyStore` does not copy. Throws StoreError, as for a file of another program.
 */
export function markCopied(file: string, at: Date | null): boolean {
  try {
    using database = new DatabaseSync(file, { timeout: 5_000 });
    // Of another program this number may be its own.
    if (!database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get())
      throw new StoreError('not-a-database');
    const before = database.prepare('pragma user_version').get()?.user_version;
    // A signed number of 32 bits: minutes since the epoch, https://www.sqlite.org/pragma.html#pragma_user_version
    database.exec(`pragma user_version = ${Math.floor((at?.getTime() ?? 0) / MINUTE_MS)}`);
    return before !== 0;
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** Rejects with StartError if the file has the mark. */
export async function refuseCopied(db: Kysely<unknown>, file: string): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  const minutes = rows[0]?.user_version ?? 0;
  if (minutes > 0)
    throw new StartError(
      `a copy of ${file} to PostgreSQL began at ${new Date(minutes * MINUTE_MS).toISOString()}: if it has ended, set STRATA_DATABASE_URL to that database; to continue with this file, run strata stack migrate-store --reopen --file ${file}`,
    );
}
