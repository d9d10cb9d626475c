// The mark of a SQLite file whose store was copied to PostgreSQL: what is written to it later is missing there.
import { openDatabase } from '@strata/db';
import { StartError } from '@strata/http';
import { type Kysely, sql } from 'kysely';
import { migrations } from './migrations/index.ts';

const MINUTE_MS = 60_000;

/** Marks the file of a `sqlite:` URL as copied at a time, or removes the mark. It is in the header, which `copyStore` does not copy. */
export async function markCopied(url: string, at: Date | null): Promise<void> {
  const { db } = await openDatabase<unknown>(url, migrations);
  // A signed number of 32 bits: minutes since the epoch, https://www.sqlite.org/pragma.html#pragma_user_version
  const minutes = Math.floor((at?.getTime() ?? 0) / MINUTE_MS);
  await sql`pragma user_version = ${sql.raw(String(minutes))}`.execute(db).finally(() => db.destroy());
}

/** Rejects with StartError if the file has the mark. */
export async function refuseCopied(db: Kysely<unknown>, file: string): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  const minutes = rows[0]?.user_version ?? 0;
  if (minutes > 0)
    throw new StartError(
      `${file} was copied to PostgreSQL at ${new Date(minutes * MINUTE_MS).toISOString()}: set STRATA_DATABASE_URL to that database, or run strata stack migrate-store --reopen to continue with this file`,
    );
}
