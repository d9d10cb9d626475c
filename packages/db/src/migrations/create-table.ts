// Creates tables in both databases: generated ids, and SQLite's STRICT. Types are SQLite's; postgres-dialect.ts translates them.
// Indexes, upserts and `returning` are the same in both.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { isPostgres } from '../dialects/postgres-dialect.ts';

export interface TableOptions {
  /** A generated, never reused integer key. */
  readonly id?: 'generated';
  /** Name of the key, `id` by default. */
  readonly key?: string;
  /** SQLite: rows are stored in the order of the primary key, without a number of their own. */
  readonly isClustered?: boolean;
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
    // By default: a copy from another store inserts its own numbers.
    return plain.addColumn(key, 'integer', (column) => column.primaryKey().generatedByDefaultAsIdentity());
  }
  const strict = plain.modifyEnd(options.isClustered ? sql`strict, without rowid` : sql`strict`) as CreateTableBuilder<
    string,
    string
  >;
  if (!options.id) return strict;
  // AUTOINCREMENT, so that numbers are not reused after the newest rows are deleted.
  return strict.addColumn(key, 'integer', (column) => column.primaryKey().autoIncrement());
}
