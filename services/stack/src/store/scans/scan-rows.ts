// Rows of the store as values of `planScan`, and its plans as rows; row numbers are assigned when they are written.
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type Evidence,
  type KnownDomain,
  type KnownRecords,
  type KnownService,
  NEVER_SCANNED,
  type OpenInterval,
  type PublishedState,
  type RecordInterval,
  type ScanPlan,
  type ScanRecord,
  type Service,
  type ServiceEvidence,
  SOURCES,
  type Source,
} from '@strata/detect';
import type { Selectable } from 'kysely';
import type { Database } from '../schema.ts';

export type DomainRow = Selectable<Database['domains']>;
type ServiceRow = Selectable<Database['services']>;

/** The stored state of a domain. */
export interface StoredDomain {
  /** Undefined if the domain is not stored yet. */
  readonly row: DomainRow | undefined;
  readonly open: readonly OpenInterval[];
  /** The stored evidence, read only if the rulebook has changed. */
  readonly evidence: Uint8Array | undefined;
  /** Undefined if the scan observed the same records as the last one. */
  readonly records: KnownRecords | undefined;
}

export function knownDomain({ row, open, evidence, records }: StoredDomain): KnownDomain {
  if (!row) return { ...NEVER_SCANNED, records };
  return {
    lastScannedAt: row.last_scanned_at,
    state: row.state,
    sector: row.sector,
    country: row.country,
    rulebook: row.rulebook,
    summary: row.summary,
    measured: new Set(row.measured.split(',').filter(Boolean) as Source[]),
    postureBits: row.posture_bits,
    holderBits: row.holder_bits,
    failures: row.failures,
    isWaiting: row.is_waiting === 1,
    changeHistory: { trackedMs: row.tracked_ms, changes: row.changes_seen },
    recordDigest: row.record_digest,
    firstScannedAt: row.first_scanned_at,
    changedAt: row.changed_at,
    requestedAt: row.asked_at,
    open,
    records,
    ...(evidence ? { storedEvidence: () => JSON.parse(inflateSync(evidence).toString('utf8')) as Evidence } : {}),
  };
}

/** What a row shows of its service. */
export function serviceOf(row: Pick<ServiceRow, keyof Service>): Service {
  const { category, role, provider, confidence, score, version, platform } = row;
  const evidence = JSON.parse(row.evidence) as ServiceEvidence[];
  return { category, role, provider, confidence, score, evidence, version, platform };
}

/** A null `last_seen` means the domain's last scan, see schema.ts. */
export function openIntervals(rows: readonly ServiceRow[], domain: Pick<DomainRow, 'last_scanned_at'>): OpenInterval[] {
  return rows.map((row) => ({
    id: row.id,
    ...serviceOf(row),
    status: row.status,
    validFrom: row.valid_from,
    lastObserved: row.last_seen ?? domain.last_scanned_at ?? row.valid_from,
    firstMissed: row.first_missed,
  }));
}

/** The columns that a scan at `observedAt` may change. */
export function serviceRow(service: KnownService, observedAt: number) {
  return {
    role: service.role,
    confidence: service.confidence,
    score: service.score,
    evidence: JSON.stringify(service.evidence),
    version: service.version,
    platform: service.platform,
    status: service.status,
    last_seen: service.lastObserved === observedAt ? null : service.lastObserved,
    first_missed: service.firstMissed,
  };
}

export function begunRow(service: KnownService, observedAt: number) {
  const { category, provider, validFrom: valid_from } = service;
  return { category, provider, valid_from, ...serviceRow(service, observedAt) };
}

/** The columns that every counted scan writes to the row of its domain. */
export function updateRow(update: NonNullable<ScanPlan['update']>) {
  return {
    last_scanned_at: update.lastScannedAt,
    measured: [...update.measured].join(','),
    rulebook: update.rulebook,
    next_due_at: update.nextDueAt,
    failures: update.failures,
    is_waiting: Number(update.isWaiting),
    tracked_ms: update.changeHistory.trackedMs,
    changes_seen: update.changeHistory.changes,
    record_digest: update.recordDigest,
    first_scanned_at: update.firstScannedAt,
    changed_at: update.changedAt,
  };
}

export function recordInterval(row: Selectable<Database['records']>): RecordInterval {
  const { kind, value, first_seen: firstSeen, last_seen: lastSeen, ended_at: endedAt } = row;
  return { kind, value, firstSeen, lastSeen, endedAt };
}

export function recordRow({ kind, value, firstSeen, lastSeen, endedAt }: RecordInterval) {
  return { kind, value, first_seen: firstSeen, last_seen: lastSeen, ended_at: endedAt };
}

export function publishedRow({ postureBits, holderBits, rulebook: _, ...published }: PublishedState) {
  return { ...published, posture_bits: postureBits, holder_bits: holderBits };
}

export function scanRow(
  { evidence, startedAt, finishedAt }: ScanRecord,
  { profile, observedAt }: ScanPlan,
): Omit<Selectable<Database['scans']>, 'id' | 'domain_id'> {
  const unmeasured = SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(profile.sources[source]));
  return {
    started_at: startedAt.getTime(),
    finished_at: finishedAt.getTime(),
    state: profile.state,
    rulebook: profile.rulebook,
    services: profile.services.length,
    unmeasured: unmeasured.join(','),
    observed_at: observedAt,
    records: recordsIn(evidence),
  };
}

/** The number of DNS records that the probe observed. */
function recordsIn({ dns }: Evidence): number {
  const { named, wildcardA: _a, wildcardTxt: _txt, wildcardMx: _mx, ...queried } = dns;
  const lookups = [...Object.values(queried), ...Object.values(named)];
  return lookups.reduce((sum, { records, aliases }) => sum + records.length + aliases.length, 0);
}

/** An 8 KiB window takes half the time of the default 32 KiB and compresses evidence equally well. */
const PACKING = { level: 3, windowBits: 13, memLevel: 6 } as const;

export function packed(evidence: Evidence): Buffer {
  return deflateSync(JSON.stringify(evidence), PACKING);
}
