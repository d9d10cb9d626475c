// The one place where the schema differs between databases: generated ids and STRICT tables. PostgreSQL would take the
// tables without `strict`, ids as `bigint generated always as identity`, times as `bigint` (its integer has 32 bits),
// `real` as `double precision` and `blob` as `bytea`; indexes, upserts and `returning` are the same in both.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

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
  const builder = db.schema.createTable(name).modifyEnd(sql`strict`) as CreateTableBuilder<string, string>;
  if (!options.id) return builder;
  // AUTOINCREMENT, because an event's number must never come back after the newest rows were deleted.
  return builder.addColumn(options.key ?? 'id', 'integer', (column) => column.primaryKey().autoIncrement());
}
