// The tables of the stack service as its copies and checks need them.
import { type Invariant, QUOTA_INVARIANT, REPORT, RESTORE, type StoreSchema } from '@strata/db';
import type { JobTables } from './jobs/job-tables.ts';
import { migrations } from './migrations/index.ts';
import type { Database } from './schema.ts';

/** On SQLite the ledger is in a file of its own, which is moved separately. Jobs end within a day, and are not copied. */
type Table = Exclude<keyof Database, `ledger_${string}` | keyof JobTables>;

/** Every table with its key columns; a table follows the tables that it references. */
const keys: Readonly<Record<Table, readonly string[]>> = {
  settings: ['name'],
  counters: ['name'],
  table_sizes: ['day', 'table_name'],
  api_keys: ['id'],
  quota_usage: ['key_id', 'day'],
  key_usage: ['key_id', 'day', 'path', 'source'],
  saved_segments: ['key_id', 'name'],
  domains: ['id'],
  on_demand_days: ['day', 'subject'],
  services: ['id'],
  records: ['domain_id', 'kind', 'value', 'first_seen'],
  scans: ['id'],
  scan_days: ['day', 'rulebook'],
  changes: ['id'],
  change_days: ['day', 'category', 'provider'],
  events: ['seq'],
  evidence: ['domain_id'],
  stream_events: ['seq'],
  anomalies: ['id'],
  alerts: ['id'],
  advisory_sources: ['name'],
  advisory_records: ['source', 'record_id'],
  advisories: ['id'],
  advisory_products: ['product_key', 'advisory_id'],
  known_exploited: ['cve'],
  exploit_scores: ['cve'],
  advisory_changes: ['seq'],
  advisory_tellings: ['subject'],
  feeds: ['id'],
  feed_moves: ['id'],
  feed_items: ['id'],
  named_domains: ['id'],
  feed_mentions: ['id'],
  feed_domains: ['domain_id', 'feed_id'],
  watchlists: ['id'],
  watchlist_domains: ['watchlist_id', 'domain'],
  watchlist_notifications: ['id'],
  watchlist_deliveries: ['id'],
  watchlist_addresses: ['key_id', 'address'],
};

const OPEN_END = '9007199254740991';

const invariants: readonly Invariant[] = [
  {
    name: 'intervals',
    sql: `select id from (
        select id, valid_from, valid_to, lag(coalesce(valid_to, ${OPEN_END}))
          over (partition by domain_id, category, provider order by valid_from, id) as until_then from services
      ) as intervals where until_then > valid_from or valid_to < valid_from`,
    what: 'Intervals of the same service overlap, or end before they begin (services)',
    advice: REPORT,
  },
  {
    name: 'intervals of records',
    sql: `select domain_id as id from (
        select domain_id, first_seen, ended_at, lag(coalesce(ended_at, ${OPEN_END}))
          over (partition by domain_id, kind, value order by first_seen) as until_then from records
      ) as intervals where until_then > first_seen or ended_at < first_seen`,
    what: 'Intervals of the same record overlap, or end before they begin (records)',
    advice: REPORT,
  },
  {
    name: 'domains of open services',
    sql: `select distinct d.name as id from services s join domains d on d.id = s.domain_id
      where s.valid_to is null and (d.last_scanned_at is null or d.summary is null)`,
    what: 'Domains have open services but were never scanned (domains)',
    advice: `${RESTORE} Or scan them again: ${'`strata stack scan`'} writes what is missing.`,
  },
  {
    name: 'changes and their scans',
    sql: 'select c.id from changes c join scans s on s.id = c.scan_id where s.domain_id <> c.domain_id',
    what: 'Changes refer to a scan of another domain (changes)',
    advice: RESTORE,
  },
  {
    name: 'positions in the event log',
    sql: `select name as id from settings where exists (select 1 from events) and
      case when name = 'stream-cursor' then cast(value as bigint) else 0 end > (select coalesce(max(seq), 0) from events)`,
    what: 'The position of the stream is after the last event (settings)',
    advice: RESTORE,
  },
  QUOTA_INVARIANT,
];

/** Old scans that changes refer to are kept: they are few, and the first of them would hide that later ones were deleted. */
const FIRST_SCAN = `coalesce((select cast(value as integer) + 1 from settings where name = 'scans-pruned-through'), 1)`;

export const stackSchema: StoreSchema = {
  migrations,
  keys,
  numbered: ['events', 'changes', 'stream_events'],
  sized: {
    ...{
      domains: null,
      services: null,
      records: false,
      scans: FIRST_SCAN,
      changes: null,
      events: null,
      stream_events: null,
    },
    ...{ alerts: null, anomalies: null, evidence: null, feed_items: null, feed_mentions: null },
    ledger_leaves: null,
  },
  counted: 'domains',
  invariants,
};
