// Many rows as one parameter: the statement is the same for any number of them, and no list is too long for a statement.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../schema.ts';
import { withoutNul } from '../dialects/postgres-connection.ts';
import { isPostgres } from '../dialects/postgres-dialect.ts';

type Db = Kysely<Database>;
/**
 * In the schema's words; a blob stands in a row as hex. The id of a row that the same transaction adds before is not known yet: it is
 * counted back from the last row of its table, 0 for the last, -1 for the one before. Writers hold one lock, so that the numbers of rows
 * that one statement adds follow one another.
 */
export type ColumnType = 'integer' | 'real' | 'text' | 'blob' | `${keyof typeof REFERRED}.id`;

/** The place of each column's value in a row, and its type. */
export type JsonColumns = Readonly<Record<string, ColumnType>>;

/** The values of an object in the order of the columns. */
export function valuesOf<Columns extends JsonColumns>(columns: Columns, row: Readonly<Record<keyof Columns, unknown>>) {
  return Object.keys(columns).map((name) => row[name]);
}

/** A list of values or of rows, or SQL that gives one. */
export type Json = string | RawBuilder<string>;

const REFERRED = { domains: sql.table('domains'), scans: sql.table('scans'), changes: sql.table('changes') } as const;

/** A sub-select of values, to stand after `in`. */
export function listed(db: Db, values: readonly number[]): RawBuilder<number>;
export function listed(db: Db, values: readonly string[]): RawBuilder<string>;
export function listed(db: Db, values: readonly (number | string)[]): RawBuilder<number | string> {
  // Nothing has no type of its own, and fits any column.
  if (values.length === 0) return sql`(null)`;
  return listedIn(db, toJson(values), typeof values[0] === 'number' ? 'integer' : 'text');
}

/** The same of a list that is JSON already, for statements that are built once. */
export function listedIn<T extends number | string>(db: Db, json: Json, type: 'integer' | 'text'): RawBuilder<T> {
  if (!isPostgres(db)) return sql`(select value from json_each(${json}))`;
  return sql`(select value::${TYPES[type]} from jsonb_array_elements_text(${json}::jsonb))`;
}

/** A sub-select of rows, each a list of values in the order of the columns. */
export function jsonRows(db: Db, rows: readonly (readonly unknown[])[], columns: JsonColumns): RawBuilder<unknown> {
  return rowsIn(db, toJson(rows), columns);
}

/** The same of rows that are JSON already, for statements that are built once. */
export function rowsIn(db: Db, json: Json, columns: JsonColumns): RawBuilder<unknown> {
  const selected = Object.entries(columns).map(
    ([name, type], place) => sql`${valueIn(db, sql`(value ->> ${sql.lit(place)})`, type)} as ${sql.ref(name)}`,
  );
  const source = isPostgres(db) ? sql`jsonb_array_elements(${json}::jsonb)` : sql`json_each(${json})`;
  return sql`(select ${sql.join(selected)} from ${source})`;
}

function valueIn(db: Db, text: RawBuilder<unknown>, type: ColumnType): RawBuilder<unknown> {
  const typed = (type: keyof typeof TYPES) => (isPostgres(db) ? sql`${text}::${TYPES[type]}` : text);
  switch (type) {
    case 'blob':
      return isPostgres(db) ? sql`decode(${text}, 'hex')` : sql`unhex${text}`;
    case 'domains.id':
    case 'scans.id':
    case 'changes.id': {
      const number = typed('integer');
      const last = sql`(select max(id) from ${REFERRED[type.slice(0, -3) as keyof typeof REFERRED]})`;
      return sql`case when ${number} > 0 then ${number} else ${number} + ${last} end`;
    }
    default:
      return typed(type);
  }
}

const TYPES = { integer: sql`bigint`, real: sql`double precision`, text: sql`text` } as const;

/** A number among the columns of a `select`: there PostgreSQL would take it for a text. */
export function integer(value: number): RawBuilder<number> {
  return sql`cast(${value} as bigint)`;
}

/** A text of a JSON column, by the names that lead to it. */
export function jsonText(db: Db, column: string, path: readonly string[]): RawBuilder<string | null> {
  if (isPostgres(db)) return sql`${readable(column)}::jsonb #>> ${sql.lit(`{${path.join(',')}}`)}`;
  return sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${path.join('.')}`)})`;
}

/** JSON that PostgreSQL reads: an escaped NUL or half of a pair anywhere in it, which are rare, would be an error. */
function readable(column: string): RawBuilder<string> {
  const text = sql.ref(column);
  const unreadable = sql.lit('\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})');
  return sql`(case when strpos(${text}, '\\u') = 0 then ${text}
    else regexp_replace(${text}, ${unreadable}, '\\\\ufffd', 'g') end)`;
}

/** PostgreSQL keeps no NUL, and fails at one in JSON, as at half of a pair. */
export function toJson(values: unknown): string {
  return JSON.stringify(values, (_, value) => (typeof value === 'string' ? withoutNul(value).toWellFormed() : value));
}
