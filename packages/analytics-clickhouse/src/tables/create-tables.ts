// Creates and upgrades the tables. Every step is idempotent: a process that ends in between repeats it.
import type { ClickHouse } from '../connection/clickhouse.ts';
import { definitionOf, removalOf } from './table.ts';
import { TABLES } from './tables.ts';

/**
 * Version of the tables. A table of another version is not read: its rows are computed from the store again. A change of the
 * tables is a new number, so that the next start rebuilds them.
 */
export const TABLES_VERSION = 1;

const VERSIONS = {
  name: 'table_versions',
  columns: { one: 'UInt8', version: 'UInt32', at: 'DateTime DEFAULT now()' },
  engine: 'ReplacingMergeTree(at)',
  order: ['one'],
  shardBy: '0',
} as const;

/** Creates missing tables. Removes those of another version first, and says so: the exporter then starts from the beginning. */
export async function createTables(clickhouse: ClickHouse): Promise<{ isReplaced: boolean }> {
  for (const text of definitionOf(VERSIONS, clickhouse.cluster)) await clickhouse.command(text);
  const found = await versionOf(clickhouse);
  const isReplaced = found !== undefined && found !== TABLES_VERSION;
  if (isReplaced) await removeTables(clickhouse);
  for (const table of TABLES)
    for (const text of definitionOf(table, clickhouse.cluster)) await clickhouse.command(text);
  if (found !== TABLES_VERSION) await clickhouse.insert('table_versions', [{ one: 1, version: TABLES_VERSION }]);
  return { isReplaced };
}

/** Removes everything; the positions first, so that an interruption leaves no position without its rows. */
export async function removeTables(clickhouse: ClickHouse): Promise<void> {
  for (const table of TABLES.toReversed().toSorted((a, b) => Number(b.name === 'blocks') - Number(a.name === 'blocks')))
    for (const text of removalOf(table, clickhouse.cluster)) await clickhouse.command(text);
}

async function versionOf(clickhouse: ClickHouse): Promise<number | undefined> {
  const text = 'SELECT version FROM table_versions ORDER BY at DESC, version DESC LIMIT 1';
  const [row] = await clickhouse.query<{ readonly version: number }>(text);
  return row?.version;
}
