// The tables of the stack service, for Kysely. Times are milliseconds since the epoch, which compare and index alike in both databases; JSON is
// text that only this code reads. docs/storage.md explains each table.

import type { CommonTables, SizeTables } from '@strata/db';
import type {
  Category,
  ChangeType,
  ConfidenceLevel,
  DomainState,
  Importance,
  RecordKind,
  Role,
  ServiceStatus,
} from '@strata/detect';
import type { LedgerDatabase } from '@strata/log';
import type { Generated } from 'kysely';
import type { EventKind } from './events/stored-event.ts';
import type { FeedTables } from './feeds/feed-tables.ts';
import type { JobTables } from './jobs/job-tables.ts';
import type { WatchlistTables } from './watchlists/watchlist-tables.ts';

/**
 * Counters: `alerts`: alerts written. `keys`: keys revoked. `feeds`: feeds polled, added or removed. `scheduler-term`:
 * the current term of the scheduler. `alert-rows`, `anomaly-rows`, `advisory-rows`, `score-rows`, `record-rows` and a
 * source: rows stored.
 */
export interface Database extends CommonTables, SizeTables, LedgerDatabase, FeedTables, JobTables, WatchlistTables {
  /** Requests of a key on a UTC day (`2026-01-31`); see key-usage.ts. */
  key_usage: {
    key_id: string;
    day: string;
    path: string;
    source: 'page' | 'api';
    requests: number;
    counted: number;
  };
  /** Queries that a key has saved under a name. */
  saved_segments: {
    key_id: string;
    name: string;
    query: string;
    updated_at: number;
  };
  domains: {
    id: Generated<number>;
    name: string;
    source: string;
    created_at: number;
    /** 0 until the first scan, so that it sorts first. */
    next_due_at: number;
    failures: Generated<number>;
    last_scanned_at: number | null;
    state: DomainState | null;
    sector: Generated<string>;
    rulebook: string | null;
    /** JSON of the results of the last scan other than services: security, roles, sources, redirect. */
    summary: string | null;
    /** Sources that any scan has measured, comma-separated. */
    measured: Generated<string>;
    /** `packPosture` and `packHolders` of the last scan; 0: not measured. */
    posture_bits: Generated<number>;
    holder_bits: Generated<number>;
    score: number | null;
    /** Incremented by every scan that writes to this row or to rows that refer to it. */
    revision: Generated<number>;
    /** 1: a result of the last scan waits for confirmation by a second one. */
    is_waiting: Generated<number>;
    /** `ChangeHistory`: how often the published state has changed. */
    tracked_ms: Generated<number>;
    changes_seen: Generated<number>;
    /** Last client request. */
    asked_at: number | null;
    /** `ObservedRecords.digest` of the last scan. */
    record_digest: string | null;
    /** First scan that measured it; of a forgotten domain null. */
    first_scanned_at: number | null;
    /** Confirmation of its last change, except of reclassifications. */
    changed_at: number | null;
    /** Of the network of its address, as the registry gives it: `DE`. */
    country: string | null;
    /** While a process scans it: when the lease expires, and which process. */
    leased_until: number | null;
    leased_by: string | null;
  };
  /** Names below private suffixes that requests added on a UTC day (days since the epoch), by counter; see on-demand-days.ts. */
  on_demand_days: {
    day: number;
    subject: string;
    names: number;
  };
  services: {
    id: Generated<number>;
    domain_id: number;
    category: Category;
    role: Role;
    provider: string;
    confidence: ConfidenceLevel;
    score: number;
    evidence: string;
    status: ServiceStatus;
    valid_from: number;
    valid_to: number | null;
    /** Null: observed by the domain's last scan, so that an unchanged scan does not write the row. */
    last_seen: number | null;
    first_missed: number | null;
    /** As shown in a header or page, with the platform named beside it, in lower case. */
    version: string | null;
    platform: string | null;
  };
  scans: {
    id: Generated<number>;
    domain_id: number;
    started_at: number;
    finished_at: number;
    state: DomainState;
    rulebook: string;
    services: number;
    /** Sources that could not be measured, comma-separated. */
    unmeasured: string;
    /** When the probe began; the time that history uses. */
    observed_at: Generated<number>;
    /** DNS records observed at the apex and at well-known names below it. */
    records: Generated<number>;
  };
  /** Intervals of observed values. */
  records: {
    domain_id: number;
    kind: RecordKind;
    value: string;
    first_seen: number;
    /** Null: observed by the domain's last scan. */
    last_seen: number | null;
    /** The first successful look-up without the value; null while it is present. */
    ended_at: number | null;
  };
  /** Scans by UTC day (days since the epoch) and rulebook, counted as they are written. */
  scan_days: {
    day: number;
    rulebook: string;
    scans: number;
    /** Scans that resolved something. */
    measured: number;
  };
  changes: {
    id: Generated<number>;
    domain_id: number;
    scan_id: number;
    at: number;
    confirmed_at: number;
    category: Category;
    role: Role;
    type: ChangeType;
    from_provider: string | null;
    to_provider: string | null;
    confidence: ConfidenceLevel;
    importance: Importance;
    /** 1: the domain did not use `to_provider` before, in any category; and no longer uses `from_provider` in any category. */
    is_entry: Generated<number>;
    is_exit: Generated<number>;
  };
  /** Changes by the UTC day on which they were confirmed, category and provider, counted as they are written. */
  change_days: {
    day: number;
    category: Category;
    provider: string;
    gained: number;
    /** Of `gained`, changes after which the domain uses the provider for the first time in any category. */
    entered: number;
    lost: number;
    /** Of `lost`, changes after which the domain uses the provider in no category. */
    exited: number;
    /** Of `gained`, migrations from another provider. */
    migrated: number;
    reclassified: number;
  };
  events: {
    seq: Generated<number>;
    at: number;
    kind: EventKind;
    domain: string;
    /** JSON. */
    payload: string;
  };
  stream_events: {
    seq: Generated<number>;
    /** Microseconds since the epoch, strictly increasing: a time identifies one event. */
    published_us: number;
    type: string;
    domain: string | null;
    /** Comma-separated ids, with a comma at both ends. */
    providers: string;
    category: string | null;
    /** The signed event as sent. */
    body: string;
  };
  anomalies: {
    id: string;
    at: number;
    subject_kind: string;
    subject: string;
    metric: string;
    severity: string;
    /** JSON of the figures. */
    facts: string;
  };
  alerts: {
    id: string;
    at: number;
    kind: string;
    /** 0 info to 4 critical. */
    severity: number;
    subject: string;
    domain: string | null;
    provider: string | null;
    title: string;
    detail: string;
    ref: string;
  };
  evidence: {
    domain_id: number;
    observed_at: number;
    /** Deflated JSON of the evidence, which is evaluated again when the rulebook changes. */
    body: Uint8Array;
  };
  advisory_sources: {
    name: string;
    state: string;
    /** JSON of where the current sync continues, or the next one begins. */
    cursor: string | null;
    /** Start of the last attempt. */
    started_at: number | null;
    /** End of the last complete sync. */
    finished_at: number | null;
    next_at: number | null;
    error: string | null;
    /** Consecutive failed attempts. */
    failures: Generated<number>;
    /** Records read, and records that could not be read, in the last or current sync. */
    read: Generated<number>;
    skipped: Generated<number>;
    skipped_example: string | null;
    /** The process that syncs the source, and when its lease expires. */
    lease_owner: string | null;
    lease_until: Generated<number>;
  };
  advisory_records: {
    source: string;
    record_id: string;
    advisory_id: string;
    /** JSON of an `AdvisoryRecord`. */
    body: string;
  };
  advisories: {
    id: string;
    /** JSON of an `Advisory`. */
    body: string;
  };
  advisory_products: {
    product_key: string;
    advisory_id: string;
  };
  known_exploited: {
    cve: string;
    /** JSON of a `KnownExploited`. */
    body: string;
  };
  exploit_scores: {
    cve: string;
    epss: number;
    percentile: number;
  };
  advisory_changes: {
    seq: Generated<number>;
    advisory_id: string;
  };
  advisory_tellings: {
    subject: string;
    at: number;
  };
}
