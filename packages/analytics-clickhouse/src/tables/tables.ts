// The tables. Each is a signed multiset (an insert of −1 removes a row) or a XOR of toggles: a domain that changes is replaced
// without rewriting anything, merges only make tables smaller, and sums are exact before every merge.
import type { Table } from './table.ts';

const WORD = 'LowCardinality(String)';
const WORDS = `Array(${WORD})`;
const COUNT = 'Int64';
const ID = 'UInt32';

/** The state of a domain: facts, and its services in arrays of equal length. */
export const STATE_COLUMNS = {
  id: ID,
  name: 'String',
  tld: WORD,
  state: WORD,
  sector: WORD,
  posture: 'UInt32',
  holders: 'UInt32',
  country: WORD,
  score: 'UInt8',
  categories: WORDS,
  providers: WORDS,
  roles: WORDS,
  levels: WORDS,
  versions: WORDS,
  platforms: 'Array(LowCardinality(Nullable(String)))',
  seq: 'UInt64',
  sign: 'Int8',
} as const;

/**
 * Milliseconds since the epoch of the last scan; seconds of the first scan since the domain is there, and of the last change. A
 * change before the first scan is of the time before the domain was removed, and does not count.
 */
const TIME_COLUMNS = {
  id: ID,
  scanned_at: 'SimpleAggregateFunction(max, Int64)',
  first_seen: 'SimpleAggregateFunction(max, UInt32)',
  changed_at: 'SimpleAggregateFunction(max, UInt32)',
} as const;

const DAY_COUNTS = ['gained', 'entered', 'lost', 'exited', 'migrated', 'reclassified'] as const;
const CHANGE_DAY_COLUMNS = {
  provider: WORD,
  category: WORD,
  day: 'UInt32',
  ...Object.fromEntries(DAY_COUNTS.map((name) => [name, COUNT])),
};

const MIGRATION_COLUMNS = {
  domain_id: ID,
  confirmed_at: 'Int64',
  category: WORD,
  from_provider: WORD,
  to_provider: WORD,
} as const;

const SCAN_DAY_COLUMNS = { day: 'UInt32', rulebook: WORD, scans: COUNT, measured: COUNT } as const;

/** Migrations this many days before the last one are removed, by month; questions reach back FLOW_DAYS. */
export const MIGRATION_DAYS = 100;
export const MIGRATION_MONTH = "toYYYYMM(toDateTime(intDiv(confirmed_at, 1000), 'UTC'))";

/** Where it halves what LZ4 leaves; and of ids in order the distance to the one before. */
const ZSTD = 'ZSTD(1)';
const IN_ORDER = `Delta, ${ZSTD}`;

/** Current domains: details of a page, facets of a set, and the state before a change. */
const DOMAINS: Table = {
  name: 'domains',
  columns: STATE_COLUMNS,
  codecs: { ...Object.fromEntries(Object.keys(STATE_COLUMNS).map((name) => [name, ZSTD])), id: IN_ORDER },
  engine: 'VersionedCollapsingMergeTree(sign, seq)',
  order: ['id'],
  shardBy: 'intHash64(id)',
  // A page of a hundred ids reads few rows around each, and decompresses few bytes.
  settings: { index_granularity: 512, min_compress_block_size: 2_048 },
};

/** Names in order: pages in the order of the names, conditions on names, and the id of a name. */
const NAMES: Table = {
  name: 'names',
  columns: { name: 'String', id: ID, n: COUNT },
  codecs: { name: ZSTD },
  engine: 'SummingMergeTree(n)',
  order: ['name', 'id'],
  shardBy: 'intHash64(id)',
  indexes: ['INDEX grams name TYPE ngrambf_v1(3, 32768, 3, 0) GRANULARITY 1'],
};

/** Times of scans and changes: conditions on them, and orders by them. */
const TIMES: Table = {
  name: 'times',
  columns: TIME_COLUMNS,
  codecs: { id: IN_ORDER, scanned_at: 'T64, LZ4', first_seen: 'T64, LZ4' },
  engine: 'AggregatingMergeTree',
  order: ['id'],
  shardBy: 'intHash64(id)',
  settings: { index_granularity: 1_024, min_compress_block_size: 8_192 },
};

/** Current services of each provider: its domains, their versions and confidence. */
const SERVICES: Table = {
  name: 'services',
  columns: {
    provider: WORD,
    category: WORD,
    id: ID,
    level: WORD,
    version: WORD,
    platform: 'LowCardinality(Nullable(String))',
    role: WORD,
    n: COUNT,
  },
  codecs: { id: IN_ORDER, level: ZSTD },
  engine: 'SummingMergeTree(n)',
  order: ['provider', 'category', 'id', 'level', 'version', 'platform', 'role'],
  keyColumns: 3,
  shardBy: 'intHash64(id)',
  settings: { allow_nullable_key: 1 },
};

/** For each term the set of its domains, as toggles: each block toggles the domains that gained or lost the term. */
const SETS: Table = {
  name: 'sets',
  columns: {
    kind: WORD,
    value: 'String',
    ids: 'AggregateFunction(groupBitmapXor, AggregateFunction(groupBitmap, UInt32))',
  },
  engine: 'AggregatingMergeTree',
  order: ['kind', 'value'],
  shardBy: 'cityHash64(kind, value)',
  // A set may have megabytes: a question reads no other one with it.
  settings: { index_granularity: 1 },
};

/** Users of each placement by the number of providers that share the domain: shares, leaders, concentration. */
const PLACEMENT_COUNTS: Table = {
  name: 'placement_counts',
  columns: {
    category: WORD,
    provider: WORD,
    role: WORD,
    level: WORD,
    state: WORD,
    in_category: 'UInt8',
    in_role: 'UInt8',
    n: COUNT,
  },
  engine: 'SummingMergeTree(n)',
  order: ['category', 'provider', 'role', 'level', 'state', 'in_category', 'in_role'],
  shardBy: 'cityHash64(provider)',
};

/** Domains of each provider, and those that depend on it alone in a role. */
const PROVIDER_COUNTS: Table = {
  name: 'provider_counts',
  columns: { provider: WORD, domains: COUNT, sole: COUNT },
  engine: 'SummingMergeTree((domains, sole))',
  order: ['provider'],
  shardBy: 'cityHash64(provider)',
};

/** Domains that use both providers: co-adoption and supply chain. */
const PAIR_COUNTS: Table = {
  name: 'pair_counts',
  columns: { a: WORD, b: WORD, n: COUNT },
  engine: 'SummingMergeTree(n)',
  order: ['a', 'b'],
  shardBy: 'cityHash64(a)',
};

/** Domains, flags and scores by state and sector: scorecards and sizes of populations. */
const FACT_COUNTS: Table = {
  name: 'fact_counts',
  columns: { kind: WORD, value: WORD, state: WORD, sector: WORD, n: COUNT },
  engine: 'SummingMergeTree(n)',
  order: ['kind', 'value', 'state', 'sector'],
  shardBy: 'cityHash64(value)',
};

/** Holders of each market: a provider, the domain itself, none, or not measured. */
const HOLDER_COUNTS: Table = {
  name: 'holder_counts',
  columns: { market_kind: WORD, market: WORD, holder: WORD, state: WORD, n: COUNT },
  engine: 'SummingMergeTree(n)',
  order: ['market_kind', 'market', 'holder', 'state'],
  shardBy: 'cityHash64(market)',
};

/** Changes by day: adoption curves, gains and losses. */
const CHANGE_DAYS: Table = {
  name: 'change_days',
  columns: CHANGE_DAY_COLUMNS,
  engine: `SummingMergeTree((${DAY_COUNTS.join(', ')}))`,
  order: ['provider', 'category', 'day'],
  shardBy: 'cityHash64(provider)',
};

/** Migrations: flows between providers. Immutable. */
const MIGRATIONS: Table = {
  name: 'migrations',
  columns: MIGRATION_COLUMNS,
  engine: 'MergeTree',
  order: ['category', 'confirmed_at'],
  shardBy: 'intHash64(domain_id)',
  partitionBy: MIGRATION_MONTH,
};

/** Scans by day and rulebook. */
const SCAN_DAYS: Table = {
  name: 'scan_days',
  columns: SCAN_DAY_COLUMNS,
  engine: 'SummingMergeTree((scans, measured))',
  order: ['day', 'rulebook'],
  shardBy: 'day',
};

/** The last committed block (`is_applied` 0), and the last one that is in every table (1), with the positions in the store's logs. */
const BLOCKS: Table = {
  name: 'blocks',
  columns: {
    is_applied: 'UInt8',
    block: 'UInt64',
    attempt: 'UInt64',
    store_id: 'String',
    stage: WORD,
    seq: 'UInt64',
    scan_id: 'UInt64',
    domain_id: ID,
    parts: 'Map(String, Int64)',
  },
  engine: 'ReplacingMergeTree(block)',
  order: ['is_applied'],
  shardBy: '0',
};

/** Blocks in one partition of a journal, which is dropped at once. */
export const JOURNAL_BLOCKS = 64;

const DICTIONARY = /LowCardinality\((\w+(?:\(\w+\))?)\)/;

/**
 * Rows of a block before they are in the other tables: after a crash a committed block is applied from here. Without
 * dictionaries, which take half of the time of an insert.
 */
function journalOf({ name, columns, shardBy }: Table): Table {
  const plain = Object.entries(columns).map(([column, type]) => [
    column,
    (/^SimpleAggregateFunction\(\w+, (.*)\)$/.exec(type)?.[1] ?? type).replace(DICTIONARY, '$1'),
  ]);
  return {
    name: `journal_${name}`,
    columns: { block: 'UInt64', attempt: 'UInt64', ...Object.fromEntries(plain) },
    engine: 'MergeTree',
    order: ['block', 'attempt'],
    shardBy,
    partitionBy: `intDiv(block, ${JOURNAL_BLOCKS})`,
  };
}

/** Tables whose rows the exporter writes; the remaining ones are computed from `domains`. */
export const JOURNALED = [DOMAINS, TIMES, CHANGE_DAYS, MIGRATIONS, SCAN_DAYS] as const;
export const JOURNALS: readonly Table[] = JOURNALED.map(journalOf);

/** In this order. A change needs another TABLES_VERSION. */
export const TABLES: readonly Table[] = [
  DOMAINS,
  NAMES,
  TIMES,
  SERVICES,
  SETS,
  PLACEMENT_COUNTS,
  PROVIDER_COUNTS,
  PAIR_COUNTS,
  FACT_COUNTS,
  HOLDER_COUNTS,
  CHANGE_DAYS,
  MIGRATIONS,
  SCAN_DAYS,
  BLOCKS,
  ...JOURNALS,
];
