// Migrations of figures: views for external SQL tools, and counts by day.
import { createTable, isPostgres } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { countChangeDays, countScanDays } from '../history/day-counts.ts';

/**
 * PostgreSQL: views for external SQL tools, in native types. Only names that begin with report_ are a public interface.
 * A later migration that drops or retypes a column of a view drops and recreates the view.
 */
export async function reportViews(db: Kysely<unknown>): Promise<void> {
  if (!isPostgres(db)) return;
  // jsonb rejects NUL and unpaired surrogates, which external records may contain: one such row would make every report fail.
  await sql`
    create function report_json(body text) returns jsonb language sql immutable parallel safe
    return regexp_replace(body, '\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'gi')::jsonb`.execute(db);
  await sql`
    create function report_list(items text) returns text[] language sql immutable parallel safe
    return coalesce(string_to_array(nullif(trim(both ',' from items), ''), ','), array[]::text[])`.execute(db);
  await sql`
    create function report_time(ms bigint) returns timestamptz language sql immutable parallel safe
    return timestamptz 'epoch' + ms * interval '1 millisecond'`.execute(db);
  for (const [name, query] of VIEWS) await sql`create view ${sql.ref(name)} as ${sql.raw(query)}`.execute(db);
}

const VIEWS: readonly (readonly [name: string, query: string])[] = [
  [
    'report_domains',
    `select id, name, source, report_time(created_at) as created_at, report_time(nullif(next_due_at, 0)) as next_due_at,
      failures::int as failures, report_time(last_scanned_at) as last_scanned_at, state, sector, rulebook, report_list(measured) as measured,
      score::int as score, report_json(summary) as summary
    from domains`,
  ],
  [
    'report_services',
    `select s.id, d.name as domain, s.category, s.role, s.provider, s.confidence, s.score, s.status,
      s.valid_to is null and s.status <> 'pending' as is_current,
      report_time(s.valid_from) as valid_from, report_time(s.valid_to) as valid_to,
      report_time(coalesce(s.last_seen, d.last_scanned_at)) as last_seen, report_time(s.first_missed) as first_missed,
      s.version, s.platform, report_json(s.evidence) as evidence
    from services s join domains d on d.id = s.domain_id`,
  ],
  [
    'report_changes',
    `select 'ch_' || case when c.id < 10000000000 then lpad(c.id::text, 10, '0') else c.id::text end as id, d.name as domain, c.scan_id,
      report_time(c.at) as at, report_time(c.confirmed_at) as confirmed_at, c.category, c.role, c.type,
      c.from_provider, c.to_provider, c.confidence, c.importance, c.is_entry = 1 as is_entry, c.is_exit = 1 as is_exit
    from changes c join domains d on d.id = c.domain_id`,
  ],
  [
    'report_scans',
    `select s.id, d.name as domain, report_time(s.started_at) as started_at, report_time(s.finished_at) as finished_at,
      report_time(s.observed_at) as observed_at, s.state, s.rulebook, s.services::int as services,
      report_list(s.unmeasured) as unmeasured, s.records::int as records
    from scans s join domains d on d.id = s.domain_id`,
  ],
  [
    'report_events',
    `select seq, report_time(at) as at, kind, nullif(domain, '') as domain, report_json(payload) as payload from events`,
  ],
  [
    'report_stream',
    `select seq, timestamptz 'epoch' + published_us * interval '1 microsecond' as published_at, type, domain,
      report_list(providers) as providers, category, report_json(body) as body
    from stream_events`,
  ],
  [
    'report_anomalies',
    `select id, report_time(at) as at, subject_kind, subject, metric, severity, report_json(facts) as facts from anomalies`,
  ],
  [
    'report_alerts',
    'select id, report_time(at) as at, kind, severity::int as severity, subject, domain, provider, title, detail, ref from alerts',
  ],
  [
    'report_quotas',
    `select k.id as key_id, k.tier, k.label, report_time(k.created_at) as key_created_at, report_time(k.revoked_at) as key_revoked_at,
      u.day::date as day, u.used::int as used
    from api_keys k left join quota_usage u on u.key_id = k.id`,
  ],
];

/** Keeps each statement far below the statement time-out. */
const ROWS_AT_ONCE = 500_000;

/**
 * Scans and changes by UTC day, and counts of alerts and anomalies, which would otherwise be counted over all rows.
 * Sizes of tables by day, and an index for the deletion of scans.
 */
export async function dayCounts(db: Kysely<unknown>): Promise<void> {
  const counts = ['gained', 'entered', 'lost', 'exited', 'migrated', 'reclassified'] as const;
  await createTable(db, 'scan_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('rulebook', 'text', (column) => column.notNull())
    .addColumn('scans', 'integer', (column) => column.notNull())
    .addColumn('measured', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('scan_days_key', ['day', 'rulebook'])
    .execute();
  let table = createTable(db, 'change_days')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull());
  for (const count of counts) table = table.addColumn(count, 'integer', (column) => column.notNull());
  await table.addPrimaryKeyConstraint('change_days_key', ['day', 'category', 'provider']).execute();
  await createTable(db, 'table_sizes')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('table_name', 'text', (column) => column.notNull())
    .addColumn('table_rows', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('table_sizes_key', ['day', 'table_name'])
    .execute();
  await countAll(db, 'scans', countScanDays);
  await countAll(db, 'changes', countChangeDays);
  // Scans that a change refers to are kept as long as the change: the deletion of scans checks for changes.
  await db.schema.createIndex('changes_scan').on('changes').column('scan_id').execute();
  await sql`insert into counters (name, value)
    select 'alert-rows', count(*) from alerts having count(*) > 0
    union all select 'anomaly-rows', count(*) from anomalies having count(*) > 0`.execute(db);
}

async function countAll(
  db: Kysely<unknown>,
  table: 'scans' | 'changes',
  count: (rows: RawBuilder<unknown>) => RawBuilder<never>,
): Promise<void> {
  const name = sql.table(table);
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select (select min(id) from ${name}) as first, (select max(id) from ${name}) as last`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return;
  for (let from = first; from <= last; from += ROWS_AT_ONCE) {
    const to = from + ROWS_AT_ONCE;
    await count(sql`(select * from ${name} where id >= ${sql.lit(from)} and id < ${sql.lit(to)})`).execute(db);
  }
}
