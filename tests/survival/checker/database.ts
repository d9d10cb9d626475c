// Plain SQL on a store: a SQLite file, opened for reading alone, or a PostgreSQL database.
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

export type Row = Readonly<Record<string, unknown>>;
/** Runs one statement; numbers of 64 bits are numbers. */
export type Sql = (text: string) => Promise<readonly Row[]>;

/** Runs `work` on the store of a URL, `sqlite:<path>` or `postgres://…`. */
export async function withDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 60_000 });
    return await work(async (text) => database.prepare(text).all());
  }
  const { builtins } = pg.types;
  const isNumber = (oid: number) => oid === builtins.INT8 || oid === builtins.NUMERIC;
  const getTypeParser = (oid: number) => (isNumber(oid) ? Number : pg.types.getTypeParser(oid as typeof builtins.INT8));
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: getTypeParser as never } });
  await client.connect();
  try {
    return await work(async (text) => (await client.query<Row>(text)).rows);
  } finally {
    await client.end();
  }
}
