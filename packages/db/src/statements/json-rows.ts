// Passes many rows as one JSON parameter: one statement for any number of rows, without the parameter limit of a statement.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { withoutNul } from '../dialects/postgres-connection.ts';
import { isPostgres } from '../dialects/postgres-dialect.ts';

type Db = Pick<Kysely<unknown>, 'getExecutor'>;
/**
 * SQLite's types; a blob is hex in JSON. `….id` refers to a row that the same transaction inserts and whose id is not known
 * yet: it counts back from the last row of its table, 0 for the last, -1 for the one before. The transaction must hold the
 * lock without which no other inserts into the table: that of the writers, alone, or for logs that of their numbers.
 */
type ColumnType = 'integer' | 'real' | 'text' | 'blob' | `${string}.id`;

/** The columns in the order of a row's values, with their types. */
export type JsonColumns = Readonly<Record<string, ColumnType>>;

/** The values of an object in the order of the columns. */
export function valuesOf<Columns extends JsonColumns>(columns: Columns, row: Readonly<Record<keyof Columns, unknown>>) {
  return Object.keys(columns).map((name) => row[name]);
}

/** A JSON list of values or of rows, or SQL that returns one. */
export type Json = string | RawBuilder<string>;

/** A sub-select of values for `in`. */
export function listed(db: Db, values: readonly number[]): RawBuilder<number>;
export function listed(db: Db, values: readonly string[]): RawBuilder<string>;
export function listed(db: Db, values: readonly (number | string)[]): RawBuilder<number | string> {
  // An empty list has no element type; null is valid for any column.
  if (values.length === 0) return sql`(null)`;
  return listedIn(db, toJson(values), typeof values[0] === 'number' ? 'integer' : 'text');
}

/** As `listed`, for a list that is JSON already, in statements that are built once. */
export function listedIn<T extends number | string>(db: Db, json: Json, type: 'integer' | 'text'): RawBuilder<T> {
  if (!isPostgres(db)) return sql`(select value from json_each(${json}))`;
  return sql`(select value::${TYPES[type]} from jsonb_array_elements_text(${json}::jsonb))`;
}

/** `column in list`, which PostgreSQL answers by the column's index even where a table has no statistics yet; `list`: in parentheses. */
export function isIn(db: Db, column: string, list: RawBuilder<unknown>): RawBuilder<boolean> {
  return isPostgres(db) ? sql`${sql.ref(column)} = any(array${list})` : sql`${sql.ref(column)} in ${list}`;
}

/** A sub-select of rows, each a list of values in column order. */
export function jsonRows(db: Db, rows: readonly (readonly unknown[])[], columns: JsonColumns): RawBuilder<unknown> {
  return rowsIn(db, toJson(rows), columns);
}

/** As `jsonRows`, for rows that are JSON already, in statements that are built once. */
export function rowsIn(db: Db, json: Json, columns: JsonColumns): RawBuilder<unknown> {
  const selected = Object.entries(columns).map(
    ([name, type], index) => sql`${valueIn(db, sql`(value ->> ${sql.lit(index)})`, type)} as ${sql.ref(name)}`,
  );
  const source = isPostgres(db) ? sql`jsonb_array_elements(${json}::jsonb)` : sql`json_each(${json})`;
  return sql`(select ${sql.join(selected)} from ${source})`;
}

function valueIn(db: Db, text: RawBuilder<unknown>, type: ColumnType): RawBuilder<unknown> {
  const typed = (type: keyof typeof TYPES) => (isPostgres(db) ? sql`${text}::${TYPES[type]}` : text);
  switch (type) {
    case 'blob':
      return isPostgres(db) ? sql`decode(${text}, 'hex')` : sql`unhex${text}`;
    case 'integer':
    case 'real':
    case 'text':
      return typed(type);
    default: {
      const number = typed('integer');
      const last = sql`(select max(id) from ${sql.table(type.slice(0, -'.id'.length))})`;
      return sql`case when ${number} > 0 then ${number} else ${number} + ${last} end`;
    }
  }
}

const TYPES = { integer: sql`bigint`, real: sql`double precision`, text: sql`text` } as const;

/** A number as a column of a `select`, which PostgreSQL would otherwise type as text. */
export function integer(value: number): RawBuilder<number> {
  return sql`cast(${value} as bigint)`;
}

/** A text in a JSON column, by its path. */
export function jsonText(db: Db, column: string, path: readonly string[]): RawBuilder<string | null> {
  if (isPostgres(db)) return sql`${readable(column)}::jsonb #>> ${sql.lit(`{${path.join(',')}}`)}`;
  return sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${path.join('.')}`)})`;
}

/** JSON that PostgreSQL accepts: an escaped NUL or an unpaired surrogate, which are rare, would be an error. */
function readable(column: string): RawBuilder<string> {
  const text = sql.ref(column);
  const unreadable = sql.lit('\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})');
  return sql`(case when strpos(${text}, '\\u') = 0 then ${text}
    else regexp_replace(${text}, ${unreadable}, '\\\\ufffd', 'g') end)`;
}

/** JSON without NUL and unpaired surrogates, which PostgreSQL rejects. */
export function toJson(values: unknown): string {
  return JSON.stringify(values, (_, value) => (typeof value === 'string' ? withoutNul(value).toWellFormed() : value));
}

/** Splits a list: a statement takes at most 32,766 parameters in SQLite, and transactions should be short. */
export function* batches<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const each of all) {
    batch.push(each);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
