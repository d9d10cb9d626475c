// How a table is made in each database: generated ids, and SQLite's STRICT. Types are written in SQLite's words; postgres-dialect.ts
// translates them. Indexes, upserts and `returning` are the same in both.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { isPostgres } from '../db/dialects/postgres-dialect.ts';

export interface TableOptions {
  /** A generated, never reused integer key. */
  readonly id?: 'generated';
  /** Its name, `id` by default. */
  readonly key?: string;
}

export function createTable(
  db: Kysely<unknown>,
  name: string,
  options: TableOptions = {},
): CreateTableBuilder<string, string> {
  const { key = 'id' } = options;
  const plain = db.schema.createTable(name);
  if (isPostgres(db)) {
    if (!options.id) return plain as CreateTableBuilder<string, string>;
    // By default: a copy of another store brings its numbers along.
    return plain.addColumn(key, 'integer', (column) => column.primaryKey().generatedByDefaultAsIdentity());
  }
  const strict = plain.modifyEnd(sql`strict`) as CreateTableBuilder<string, string>;
  if (!options.id) return strict;
  // AUTOINCREMENT, because an event's number must never come back after the newest rows were deleted.
  return strict.addColumn(key, 'integer', (column) => column.primaryKey().autoIncrement());
}
