// The proof that tables filled by SQL are those that the exporter writes: it exports the same domains, read from the tables.
import { readFile, writeFile } from 'node:fs/promises';
import type { DayOfChanges, IndexedDomain, IndexedMigration } from '@strata/analytics';
import { type ClickHouse, Exporter, type ExportSource, openClickHouse } from '@strata/analytics-clickhouse';
import { ROLES } from '@strata/detect';
import { fill } from './fill.ts';

type Sums = Readonly<Record<string, string>>;
interface SmallWorld {
  readonly domains: readonly IndexedDomain[];
  readonly changeDays: readonly DayOfChanges[];
  readonly migrations: readonly IndexedMigration[];
  readonly scanDays: readonly {
    readonly day: number;
    readonly rulebook: string;
    readonly scans: number;
    readonly measured: number;
  }[];
}

export async function fillSmall(
  folder: string,
  { domains, blockDomains }: { readonly domains: number; readonly blockDomains: number },
): Promise<Sums> {
  await using clickhouse = await openClickHouse(`chdb:${folder}/sql`);
  await fill(clickhouse, { domains, blockDomains, progress: () => {} });
  const world: SmallWorld = {
    domains:
      await clickhouse.query(`SELECT id, name, toInt64(scanned_at) AS scannedAt, toInt64(first_seen) * 1000 AS firstSeen, toInt64(changed_at) * 1000 AS changedAt,
      state, sector, posture, holders, country, score, arrayMap((c, p, l, v) -> (c, p, l, v), categories, providers, levels, versions) AS services
      FROM domains JOIN times USING id ORDER BY id SETTINGS output_format_json_named_tuples_as_objects = 0, max_result_rows = 0`),
    changeDays: await clickhouse.query('SELECT * FROM change_days'),
    migrations: await clickhouse.query(
      'SELECT domain_id AS domainId, toInt64(confirmed_at) AS confirmedAt, category, from_provider AS `from`, to_provider AS `to` FROM migrations',
    ),
    scanDays: await clickhouse.query('SELECT * FROM scan_days'),
  };
  await writeFile(`${folder}/world.json`, JSON.stringify(world));
  return await sumsOf(clickhouse);
}

export async function exportSmall(folder: string): Promise<Sums> {
  const world = JSON.parse(await readFile(`${folder}/world.json`, 'utf8')) as SmallWorld;
  await using clickhouse = await openClickHouse(`chdb:${folder}/exported`);
  const exporter = await Exporter.open({ clickhouse, source: sourceOf(world), roleOf: (category) => ROLES[category] });
  while (await exporter.step());
  return await sumsOf(clickhouse);
}

function sourceOf({ domains, changeDays, migrations, scanDays }: SmallWorld): ExportSource {
  return {
    storeId: async () => 'bench',
    reaches: async () => true,
    async readHistory(reader) {
      await reader.changeDays(changeDays);
      await reader.migrations(migrations);
      await reader.scanDays(scanDays);
      return { seq: 0, scanId: 0 };
    },
    async domainsAfter(id, limit) {
      const found = domains.slice(id, id + limit);
      return { domains: found, last: id + limit < domains.length ? id + limit : undefined, seq: 0 };
    },
    eventsSince: async () => [],
    scansSince: async () => [],
  };
}

/** Numbers of rows, and sums of their hashes, by table; after merges, so that they do not depend on the blocks. */
async function sumsOf(clickhouse: ClickHouse): Promise<Sums> {
  const tables = await clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND NOT startsWith(name, 'journal') AND name NOT IN ('blocks', 'table_versions') ORDER BY name`,
  );
  const sums: Record<string, string> = {};
  for (const { name } of tables) {
    await clickhouse.command(`OPTIMIZE TABLE ${name} FINAL`);
    const rows =
      name === 'sets'
        ? 'SELECT kind, value, arraySort(bitmapToArray(groupBitmapXorMergeState(ids))) FROM sets GROUP BY kind, value'
        : `SELECT * FROM ${name}`;
    const [row] = await clickhouse.query<{ sum: string }>(
      `SELECT concat(toString(count()), ' rows, ', toString(sum(cityHash64(toString(tuple(*)))))) AS sum FROM (${rows})`,
    );
    sums[name] = row?.sum ?? '';
  }
  return sums;
}
