// PostgreSQL: views for external SQL tools, in native types. Only names that begin with report_ are a public interface. A later
// migration that drops or retypes a column of a view drops and recreates the view.

import { isPostgres } from '@strata/db';
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
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
