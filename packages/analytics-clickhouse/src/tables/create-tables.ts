// Creates and upgrades the tables. Every step is idempotent: a process that ends in between repeats it.
import type { ClickHouse } from '../connection/clickhouse.ts';
import { ClickHouseError } from '../connection/clickhouse-error.ts';
import { definitionOf, removalOf } from './table.ts';
import { TABLES } from './tables.ts';

/**
 * Version of the tables. A table of another version is not read: its rows are computed from the store again. A change of the
 * tables is a new number, so that the next start rebuilds them.
 */
export const TABLES_VERSION = 5;

const VERSIONS = {
  name: 'table_versions',
  columns: { one: 'UInt8', version: 'UInt32', at: 'DateTime DEFAULT now()' },
  engine: 'ReplacingMergeTree(at)',
  order: ['one'],
  shardBy: '0',
} as const;

/**
 * Creates the tables. Removes those of an older version first, and those of which one is missing, because of a removal that did
 * not end: the exporter then starts from the beginning. Rejects with ClickHouseError `unavailable` if they are of a newer
 * version: while nodes of two versions run, they would remove each other's tables.
 */
export async function createTables(clickhouse: ClickHouse): Promise<void> {
  for (const text of definitionOf(VERSIONS, clickhouse.cluster)) await clickhouse.command(text);
  const found = await versionOf(clickhouse);
  if (found !== undefined && found > TABLES_VERSION)
    throw new ClickHouseError(
      'unavailable',
      `the tables in ClickHouse are of version ${found}, this program fills ${TABLES_VERSION}: drop the database to go back`,
    );
  if (found !== TABLES_VERSION || !(await isComplete(clickhouse))) await removeTables(clickhouse);
  for (const table of TABLES)
    for (const text of definitionOf(table, clickhouse.cluster)) await clickhouse.command(text);
  if (found !== TABLES_VERSION) await clickhouse.insert('table_versions', [{ one: 1, version: TABLES_VERSION }]);
}

/**
 * Removes everything; the positions first, so that an interruption leaves no position without its rows, and last, so that an
 * exporter that began in between starts again.
 */
export async function removeTables(clickhouse: ClickHouse): Promise<void> {
  await removePositions(clickhouse);
  for (const table of TABLES.toReversed())
    for (const text of removalOf(table, clickhouse.cluster)) await clickhouse.command(text);
  await removePositions(clickhouse);
}

/** The exporter, which may be running in another process, empties and fills the tables again. */
export async function removePositions(clickhouse: ClickHouse): Promise<void> {
  for (const text of removalOf({ name: 'blocks' }, clickhouse.cluster)) await clickhouse.command(text);
}

async function isComplete(clickhouse: ClickHouse): Promise<boolean> {
  const names = TABLES.map(({ name }) => name);
  const text = `SELECT count() AS n FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}`;
  const [row] = await clickhouse.query<{ readonly n: number }>(text, { names });
  return row?.n === names.length;
}

/** Of the tables that were created last; undefined before the first ones. */
export async function versionOf(clickhouse: Pick<ClickHouse, 'query'>): Promise<number | undefined> {
  const text = 'SELECT version FROM table_versions ORDER BY at DESC, version DESC LIMIT 1';
  const [row] = await clickhouse.query<{ readonly version: number }>(text);
  return row?.version;
}
