// A table: its columns and order, and its definition on one server or on the shards of a cluster.

export interface Table {
  readonly name: string;
  /** Type by column. */
  readonly columns: Readonly<Record<string, string>>;
  /** Of columns for which it is not LZ4. */
  readonly codecs?: Readonly<Record<string, string>>;
  /** Without `Replicated`. */
  readonly engine: 'MergeTree' | `${'Summing' | 'Aggregating' | 'Replacing' | 'VersionedCollapsing'}MergeTree${string}`;
  readonly order: readonly string[];
  /** How many columns of the order are the primary key; all of them by default. */
  readonly keyColumns?: number;
  /** The rows of one value of this expression are on one shard. */
  readonly shardBy: string;
  readonly partitionBy?: string;
  readonly indexes?: readonly string[];
  readonly settings?: Readonly<Record<string, number>>;
}

/** Blocks whose tokens a table remembers: the exporter repeats only its last one. */
const TOKENS = 1_000;

/**
 * The statements that create it, if it is missing. On a cluster: a replicated table on each shard, `<name>_local`, and `<name>`
 * over all shards. The server replaces `{shard}` and `{replica}` by its macros.
 */
export function definitionOf(table: Table, cluster?: string): string[] {
  const { name, columns, codecs = {}, order, keyColumns = order.length, partitionBy, indexes = [] } = table;
  const codec = (column: string) => (codecs[column] === undefined ? '' : ` CODEC(${codecs[column]})`);
  const lines = [...Object.entries(columns).map(([column, type]) => `${column} ${type}${codec(column)}`), ...indexes];
  const settings = Object.entries({ ...settingsOf(cluster), ...table.settings }).map(
    ([key, value]) => `${key} = ${value}`,
  );
  const local = cluster === undefined ? name : `${name}_local`;
  const onCluster = cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`;
  const definition = [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster} (${lines.join(', ')})`,
    `ENGINE = ${cluster === undefined ? table.engine : replicated(table)}`,
    partitionBy === undefined ? '' : `PARTITION BY ${partitionBy}`,
    `PRIMARY KEY (${order.slice(0, keyColumns).join(', ')}) ORDER BY (${order.join(', ')})`,
    `SETTINGS ${settings.join(', ')}`,
  ].join(' ');
  if (cluster === undefined) return [definition];
  const all = `ENGINE = Distributed('${cluster}', currentDatabase(), '${local}', ${table.shardBy})`;
  return [definition, `CREATE TABLE IF NOT EXISTS ${name}${onCluster} AS ${local} ${all}`];
}

export function removalOf({ name }: Pick<Table, 'name'>, cluster?: string): string[] {
  if (cluster === undefined) return [`DROP TABLE IF EXISTS ${name} SYNC`];
  return [name, `${name}_local`].map((each) => `DROP TABLE IF EXISTS ${each} ON CLUSTER '${cluster}' SYNC`);
}

/** A single server writes each block to disk before it reports it as inserted; replicas keep it several times. */
function settingsOf(cluster: string | undefined): Readonly<Record<string, number>> {
  if (cluster !== undefined)
    return { replicated_deduplication_window: TOKENS, replicated_deduplication_window_seconds: 2_592_000 };
  return { non_replicated_deduplication_window: TOKENS, fsync_after_insert: 1, fsync_part_directory: 1 };
}

function replicated({ engine }: Table): string {
  const [, kind = '', args = ''] = /^(\w+?)(?:\((.*)\))?$/.exec(engine) ?? [];
  const location = `'/clickhouse/tables/{uuid}/{shard}', '{replica}'`;
  return `Replicated${kind}(${location}${args === '' ? '' : `, ${args}`})`;
}
