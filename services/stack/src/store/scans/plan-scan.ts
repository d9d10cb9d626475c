// Plans what a scan writes, from the stored state of its domain; row numbers are assigned when it is written. Pure.
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type Evidence,
  type KnownService,
  keyOf,
  type Profile,
  reconcile,
  SOURCES,
  type Source,
  stillParked,
} from '@strata/detect';
import type { Selectable } from 'kysely';
import type { Database } from '../schema.ts';
import { type IntervalWrites, intervalWrites, type OpenInterval } from './intervals.ts';
import { type Difference, type NewChange, newChanges, type PublishedState, publishedStateOf } from './scan-events.ts';
import { intervalOf, nextScanAt, withScan } from './schedule.ts';

export interface ScanRecord {
  readonly profile: Profile;
  readonly evidence: Evidence;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

export interface RecordOptions {
  readonly confirmAfterMs: number;
  /** Evaluates stored evidence with the current rulebook; called only if the rulebook has changed since the last scan. */
  readonly redetect?: (evidence: Evidence) => Profile;
}

type DomainRow = Selectable<Database['domains']>;

/** The stored state of a domain. */
export interface KnownDomain {
  /** Undefined if the domain is not stored yet. */
  readonly row: DomainRow | undefined;
  readonly open: readonly OpenInterval[];
  /** The stored evidence, read only if the rulebook has changed. */
  readonly evidence: Uint8Array | undefined;
}

/** The columns that every counted scan writes to the row of its domain. */
export interface DomainUpdate {
  readonly last_scanned_at: number | null;
  readonly measured: string;
  /** A new rulebook with the same result is stored without an event, so that a release does not emit an event for each domain. */
  readonly rulebook: string | null;
  readonly next_due_at: number;
  readonly failures: number;
  readonly is_waiting: number;
  readonly tracked_ms: number;
  readonly changes_seen: number;
}

export interface PlannedScan {
  readonly scan: Omit<Selectable<Database['scans']>, 'id' | 'domain_id'>;
  readonly isFirst: boolean;
  /** Undefined for a scan that is older than the last one: it is counted, and changes nothing. */
  readonly update?: DomainUpdate;
  readonly intervals?: IntervalWrites;
  readonly changes: readonly NewChange[];
  /** Present if the published state of the domain differs. */
  readonly difference?: Difference;
  /** Deflated; present if it is to be stored. */
  readonly evidence?: Uint8Array;
}

export interface PlanOptions extends RecordOptions {
  readonly rescanAfterMs: number;
}

/** Backoff after a scan that could not resolve the domain; doubles with each consecutive failure. */
const RETRY_AFTER_MS = 15 * 60_000;
/** A requested domain is scanned more often for this time. */
const WATCHED_MS = 7 * 86_400_000;

/** Throws if the stored evidence or summary cannot be parsed. */
export function planScan({ row, open, evidence }: KnownDomain, scan: ScanRecord, options: PlanOptions): PlannedScan {
  const now = timeOf(scan);
  const domain = row ?? NEVER_SCANNED;
  const profile = stillParked(scan.profile, domain);
  const isFirst = domain.last_scanned_at === null;
  const counted = { scan: scanRow({ ...scan, profile }, now), isFirst, changes: [] };
  if (profile.state === 'unmeasured') {
    // Nothing was resolved: the last successful scan remains valid, and the next one is due sooner.
    const { failures, last_scanned_at, measured, rulebook, is_waiting, tracked_ms, changes_seen } = domain;
    const kept = { last_scanned_at, measured, rulebook, is_waiting, tracked_ms, changes_seen };
    return { ...counted, update: { ...kept, next_due_at: retryAt(now, domain, options), failures: failures + 1 } };
  }
  // Another process has recorded a later scan: history is never rewritten.
  if (now < (domain.last_scanned_at ?? 0)) return counted;

  const { previous, measuredBefore } = previousOf(domain, evidence, options.redetect, profile);
  const { confirmAfterMs } = options;
  const result = reconcile(open, profile, { confirmAfterMs, measuredBefore, ...(previous ? { previous } : {}) });
  const published = publishedStateOf(profile, domain);
  const isChanged = isFirst || differs(domain, published) || publishedServices(open) !== publishedServices(result.open);
  const hasOtherRules = !isFirst && domain.rulebook !== published.rulebook;
  // While a transition is pending, the newest evidence is stored even if nothing published changes: a new rulebook must not
  // evaluate older evidence that lacks what has returned since.
  const isMoving = result.isPending || open.some(({ status }) => status !== 'confirmed');
  return {
    ...counted,
    update: {
      last_scanned_at: now,
      measured: [...measuredBefore.union(measuredBy(profile))].join(','),
      rulebook: profile.rulebook,
      failures: 0,
      ...schedule(domain, profile, { ...options, isChanged, isWaiting: result.isPending }),
    },
    intervals: intervalWrites(domain, open, result, now),
    changes: newChanges(result, open),
    ...(isChanged ? { difference: { profile, now, isFirst, published, known: open, open: result.open } } : {}),
    ...(isChanged || isMoving || hasOtherRules ? { evidence: packed(scan.evidence) } : {}),
  };
}

/** Whether stored evidence must be evaluated again with the rulebook of this scan. */
export function needsRedetection(row: DomainRow, { profile }: ScanRecord, { redetect }: RecordOptions): boolean {
  return redetect !== undefined && row.rulebook !== null && row.rulebook !== profile.rulebook;
}

/** The next due time, and the updated change history of the domain. */
function schedule(
  domain: Domain,
  { domain: name, observedAt, rulebook }: Profile,
  options: PlanOptions & { readonly isChanged: boolean; readonly isWaiting: boolean },
): Pick<DomainUpdate, 'next_due_at' | 'is_waiting' | 'tracked_ms' | 'changes_seen'> {
  const now = Date.parse(observedAt);
  const { confirmAfterMs, rescanAfterMs: usualMs, isWaiting } = options;
  const elapsedMs = domain.last_scanned_at === null ? 0 : now - domain.last_scanned_at;
  // A different result under other rules is not a change of the domain.
  const isChanged = options.isChanged && domain.last_scanned_at !== null && domain.rulebook === rulebook;
  const history = withScan({ trackedMs: domain.tracked_ms, changes: domain.changes_seen }, { elapsedMs, isChanged });
  const isWatched = domain.asked_at !== null && now - domain.asked_at < WATCHED_MS;
  const usually = nextScanAt(name, now, intervalOf(history, { usualMs, isWatched }));
  return {
    // One millisecond more, so that the second scan is late enough to confirm.
    next_due_at: isWaiting ? Math.min(now + confirmAfterMs + 1, usually) : usually,
    is_waiting: Number(isWaiting),
    tracked_ms: history.trackedMs,
    changes_seen: history.changes,
  };
}

const NEVER_SCANNED = {
  last_scanned_at: null,
  state: null,
  sector: 'unknown',
  rulebook: null,
  summary: null,
  measured: '',
  posture_bits: 0,
  holder_bits: 0,
  failures: 0,
  is_waiting: 0,
  tracked_ms: 0,
  changes_seen: 0,
  asked_at: null,
} as const satisfies Partial<DomainRow>;

/** The columns that a plan needs. */
type Domain = Pick<DomainRow, keyof typeof NEVER_SCANNED>;

function timeOf({ profile }: ScanRecord): number {
  const now = Date.parse(profile.observedAt);
  if (Number.isNaN(now)) throw new Error(`a scan of ${profile.domain} has no valid observation time`);
  return now;
}

/** The previous result under this rulebook; under a new rulebook, the stored evidence evaluated again. */
function previousOf(
  domain: Domain,
  evidence: Uint8Array | undefined,
  redetect: RecordOptions['redetect'],
  profile: Profile,
): { readonly previous?: Profile; readonly measuredBefore: ReadonlySet<Source> } {
  if (!redetect || domain.rulebook === null || domain.rulebook === profile.rulebook) {
    return { measuredBefore: new Set(domain.measured.split(',').filter(Boolean) as Source[]) };
  }
  if (!evidence) return { measuredBefore: new Set() };
  const previous = redetect(JSON.parse(inflateSync(evidence).toString('utf8')) as Evidence);
  return { previous, measuredBefore: measuredBy(previous) };
}

function scanRow({ profile, evidence, startedAt, finishedAt }: ScanRecord, now: number): PlannedScan['scan'] {
  const unmeasured = SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(profile.sources[source]));
  return {
    started_at: startedAt.getTime(),
    finished_at: finishedAt.getTime(),
    state: profile.state,
    rulebook: profile.rulebook,
    services: profile.services.length,
    unmeasured: unmeasured.join(','),
    observed_at: now,
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

function packed(evidence: Evidence): Uint8Array {
  return deflateSync(JSON.stringify(evidence), PACKING);
}

function differs(domain: Domain, published: PublishedState): boolean {
  return (
    domain.summary !== published.summary ||
    domain.state !== published.state ||
    domain.sector !== published.sector ||
    domain.posture_bits !== published.posture_bits ||
    domain.holder_bits !== published.holder_bits
  );
}

/** The published part of the services: pending services are excluded, and a first miss changes nothing. */
function publishedServices(services: readonly KnownService[]): string {
  const published = services.filter((service) => service.status !== 'pending');
  return JSON.stringify(
    published.map((s) => [keyOf(s), s.confidence, s.score, s.evidence, s.version, s.platform]).sort(),
  );
}

function measuredBy(profile: Profile): ReadonlySet<Source> {
  return new Set(
    SOURCES.filter((source) => profile.sources[source] === 'observed' || profile.sources[source] === 'absent'),
  );
}

function retryAt(now: number, { failures }: Domain, { rescanAfterMs }: PlanOptions): number {
  return now + Math.min(RETRY_AFTER_MS * 2 ** Math.min(failures, 10), rescanAfterMs);
}
