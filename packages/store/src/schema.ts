// The tables as Kysely sees them. Times are milliseconds since the epoch (integers compare and index alike everywhere);
// JSON is text that only we read; docs/storage.md explains what each table is for.
import type {
  Category,
  ChangeType,
  ConfidenceLevel,
  DomainState,
  Importance,
  Role,
  ServiceStatus,
} from '@strata/detect';
import type { Generated } from 'kysely';

export interface Database {
  domains: {
    id: Generated<number>;
    name: string;
    source: string;
    created_at: number;
    /** 0 until the first scan, so that it comes first. */
    next_due_at: number;
    failures: Generated<number>;
    last_scanned_at: number | null;
    state: DomainState | null;
    sector: Generated<string>;
    rulebook: string | null;
    /** JSON of what the last scan said besides its services: security, roles, sources, redirect. */
    summary: string | null;
    /** Sources that some scan has measured, comma-separated. */
    measured: Generated<string>;
    /** `packPosture` and `packHolders` of the last scan; 0 is not measured. */
    posture_bits: Generated<number>;
    holder_bits: Generated<number>;
    score: number | null;
    /** Grows with every scan that writes to this row, or to what hangs on it. */
    revision: Generated<number>;
    /** 1: the last look saw something that a second one must confirm. */
    is_waiting: Generated<number>;
    /** `ChangeHistory`: how often what is told has changed. */
    tracked_ms: Generated<number>;
    changes_seen: Generated<number>;
    /** When somebody last asked for it. */
    asked_at: number | null;
  };
  /** Names below private suffixes that requests have added on a UTC day (days since the epoch), by what bounds them; see on-demand-days.ts. */
  on_demand_days: {
    day: number;
    subject: string;
    names: number;
  };
  /** Domains that some process scans, and until when that is believed without another sign of life. */
  scan_leases: {
    domain_id: number;
    holder: string;
    until: number;
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
    /** Null: seen by the domain's last scan. So an unchanged rescan need not touch the row. */
    last_seen: number | null;
    first_missed: number | null;
    /** As a header or page showed it, and the platform that was named with it, lower case. */
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
    /** When the probe began, by the clock that history goes by. */
    observed_at: Generated<number>;
    /** DNS records seen at the apex and the well-known names below it. */
    records: Generated<number>;
  };
  /** Scans by UTC day (days since the epoch) and rulebook, counted as they are written. */
  scan_days: {
    day: number;
    rulebook: string;
    scans: number;
    /** Of them, those that resolved something. */
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
    /** 1: with it the domain began to use `to_provider` at all; and stopped using `from_provider` altogether. */
    is_entry: Generated<number>;
    is_exit: Generated<number>;
  };
  /** Changes by the UTC day on which they were confirmed, category and provider, counted as they are written. */
  change_days: {
    day: number;
    category: Category;
    provider: string;
    gained: number;
    /** Of those gained, with how many the domain began to use the provider at all. */
    entered: number;
    lost: number;
    /** Of those lost, with how many the domain stopped using it altogether. */
    exited: number;
    /** Of those gained, migrations from another provider. */
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
    /** Microseconds since the epoch, strictly growing: a time names one event. */
    published_us: number;
    type: string;
    domain: string | null;
    /** Comma-separated ids, with a comma at both ends. */
    providers: string;
    category: string | null;
    /** The signed event, as it is sent. */
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
    /** Deflated JSON of the evidence, to be read again when the rulebook changes. */
    body: Uint8Array;
  };
  api_keys: {
    id: string;
    /** Hex SHA-256 of the key. The key itself is nowhere. */
    hash: string;
    tier: string;
    priority: string;
    label: string | null;
    created_at: number;
    revoked_at: number | null;
    /** The UTC day, and salted hashes of the networks and the address for which it was made; null for keys made by an operator. */
    origin: string | null;
  };
  quota_usage: {
    key_id: string;
    day: string;
    used: number;
  };
  answer_receipts: {
    seq: Generated<number>;
    /** `rwr_` and a ULID: sorts by time. */
    id: string;
    key_id: string;
    /** The signed receipt, JSON. */
    body: string;
  };
  token_usage: {
    key_id: string;
    day: string;
    model: string;
    requests: number;
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
  };
  segments: {
    seq: Generated<number>;
    nonce: Uint8Array;
    /** Peer ids. */
    worker: string;
    gateway: string;
    /** Id of the key that asked; a worker's own store does not know it. */
    caller: string | null;
    /** Hex. */
    model_sha256: string;
    prompt_tokens: number;
    cached_tokens: number;
    output_tokens: number;
    ended_at: number;
    /** SegmentReceipt of Protocol Buffers, as it was signed. */
    receipt: Uint8Array;
    worker_signature: Uint8Array;
    /** Null: the gateway has not agreed yet. */
    gateway_signature: Uint8Array | null;
  };
  standings: {
    /** Peer id. */
    peer: string;
    /** JSON. */
    standing: string;
  };
  advisory_sources: {
    name: string;
    state: string;
    /** JSON of where the sync under way stands, or where the next one begins. */
    cursor: string | null;
    /** Of the last try. */
    started_at: number | null;
    /** When the last whole sync ended. */
    finished_at: number | null;
    next_at: number | null;
    error: string | null;
    /** Tries in a row that failed. */
    failures: Generated<number>;
    /** Records read, and those that could not be, in the last or running sync. */
    read: Generated<number>;
    skipped: Generated<number>;
    skipped_example: string | null;
    /** Who syncs it now, and until when that is believed without another sign of life. */
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
  feeds: {
    id: Generated<number>;
    url: string;
    /** `leaving`: it is being removed, or made one with the feed that it merges into; see feed-removal.ts. */
    status: 'active' | 'gone' | 'leaving';
    merges_into: number | null;
    etag: string | null;
    last_modified: string | null;
    /** 0 until the first poll, so that it comes first. */
    next_poll_at: number;
    failures: Generated<number>;
    error: string | null;
    title: string | null;
    site_url: string | null;
    last_new_at: number | null;
    read_at: number | null;
    ttl_ms: number | null;
    /** A bit for each hour and day: 1 for the first. */
    skip_hours: Generated<number>;
    skip_days: Generated<number>;
    added_at: number;
    polled_at: number | null;
    /** Of those that are kept. */
    items: Generated<number>;
    mentions: Generated<number>;
  };
  feed_moves: {
    id: Generated<number>;
    url: string;
    feed_id: number;
  };
  feed_items: {
    id: Generated<number>;
    feed_id: number;
    key: string;
    url: string | null;
    title: string | null;
    published_at: number | null;
    /** What its age is counted from: its date, or when it was last known to stand in the feed. */
    kept_at: number;
  };
  named_domains: {
    id: Generated<number>;
    name: string;
    mentions: number;
    first_at: number;
    last_at: number;
    offered_at: number | null;
  };
  feed_mentions: {
    id: Generated<number>;
    item_id: number;
    /** Of the item's feed, so that the latest item of a feed that names a domain is one look-up. */
    feed_id: number;
    domain_id: number;
    kind: 'link' | 'content';
    at: number;
  };
  feed_domains: {
    domain_id: number;
    feed_id: number;
    mentions: number;
    last_at: number;
  };
  ledger_head: {
    /** 1. */
    id: number;
    /** First line of every checkpoint. */
    origin: string;
    size: number;
    root: Uint8Array;
    /** Hashes of the perfect subtrees that make up the tree, left to right, 32 bytes each. */
    edge: Uint8Array;
    /** The signed checkpoint. */
    note: string;
  };
  ledger_leaves: {
    leaf_index: number;
    /** RFC 6962 leaf hash. */
    hash: Uint8Array;
    leaf: Uint8Array;
  };
  ledger_subtrees: {
    /** Of tiles: 1 is above 256 leaves, 2 above 65,536. */
    level: number;
    subtree_index: number;
    hash: Uint8Array;
  };
  ledger_keys: {
    kid: string;
    /** JSON of a public key and its days, signed by the ledger's key. */
    key: string;
  };
  settings: {
    name: string;
    value: string;
  };
  counters: {
    name: string;
    value: number;
  };
  /** About how many rows a table had on a UTC day (days since the epoch). */
  table_sizes: {
    day: number;
    table_name: string;
    table_rows: number;
  };
}

/**
 * `domain-changed`: what is told of the domain differs, with all that the index keeps of it. `change-confirmed`: a change of
 * services. `posture-regressed`: something got worse. `anomaly-found`: a day's figure stands out. `advisory-touched`: a vulnerability of
 * what domains use became known or exploited. `domain-exposed`: a scan shows a domain within reach of exploited ones. `domain-removed`:
 * the domain is not followed any more.
 */
export type EventKind =
  | 'domain-changed'
  | 'change-confirmed'
  | 'posture-regressed'
  | 'anomaly-found'
  | 'advisory-touched'
  | 'domain-exposed'
  | 'domain-removed';
