// DuckDB on the Parquet files of the suite, which is installed on request (docs/dependencies.md).
import { loadDuck } from '../sets/sets-engines.ts';

/** Asks one statement over views of the files; undefined without DuckDB. */
export async function askDuck(
  folder: string,
  tables: readonly string[],
): Promise<((sql: string) => Promise<unknown>) | undefined> {
  const duck = await loadDuck();
  if (!duck) return undefined;
  const settings = { threads: '2', memory_limit: '8GB', temp_directory: `${folder}/duck` };
  const connection = await (await duck.DuckDBInstance.create(':memory:', settings)).connect();
  for (const table of tables)
    await connection.run(`CREATE VIEW ${table} AS SELECT * FROM '${folder}/${table}.parquet'`);
  return (sql) => connection.runAndReadAll(sql);
}
