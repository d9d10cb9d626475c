// What one scan does to what is known of its domain: the rows to be written, but for the numbers that they get then. Pure.
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
import type { Database } from '../../schema.ts';
import { type IntervalWrites, intervalWrites, type OpenInterval } from './intervals.ts';
import { type Difference, type NewChange, newChanges, type PublishedState, publishedStateOf } from './scan-events.ts';
import { intervalOf, nextLookAt, withLook } from './schedule.ts';

export interface ScanRecord {
  readonly profile: Profile;
  readonly evidence: Evidence;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

export interface RecordOptions {
  readonly confirmAfterMs: number;
  /** Reads stored evidence with today's rulebook; called only when the rulebook has changed since the last scan. */
  readonly redetect?: (evidence: Evidence) => Profile;
}

type DomainRow = Selectable<Database['domains']>;

/** A domain as the store has it. */
export interface KnownDomain {
  /** Undefined when the store does not know it yet. */
  readonly row: DomainRow | undefined;
  readonly open: readonly OpenInterval[];
  /** The evidence that is kept, where another rulebook has read it. */
  readonly evidence: Uint8Array | undefined;
}

/** What a scan writes to the row of its domain. */
export interface Looked {
  readonly last_scanned_at: number | null;
  readonly measured: string;
  /** Other rules that read the same are noted, and are no difference: a release does not write an event for each domain. */
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
  /** Undefined for a look that is older than the last one: it is counted, and changes nothing. */
  readonly looked?: Looked;
  readonly intervals?: IntervalWrites;
  readonly changes: readonly NewChange[];
  /** When what is told of the domain differs. */
  readonly difference?: Difference;
  /** Deflated, when it is to be kept. */
  readonly evidence?: Uint8Array;
}

export interface PlanOptions extends RecordOptions {
  readonly rescanAfterMs: number;
}

/** A domain that could not be resolved at all is tried again after this, doubled for each failure in a row. */
const RETRY_AFTER_MS = 15 * 60_000;
/** A domain that somebody asked for is watched for so long. */
const WATCHED_MS = 7 * 86_400_000;

/** Throws when the scan's own data are not to be read. */
export function planScan({ row, open, evidence }: KnownDomain, scan: ScanRecord, options: PlanOptions): PlannedScan {
  const now = timeOf(scan);
  const domain = row ?? NEVER_SCANNED;
  const profile = stillParked(scan.profile, domain);
  const isFirst = domain.last_scanned_at === null;
  const counted = { scan: scanRow({ ...scan, profile }, now), isFirst, changes: [] };
  if (profile.state === 'unmeasured') {
    // It saw nothing: what the last good scan said stands, and the next one comes sooner.
    const { failures, last_scanned_at, measured, rulebook, is_waiting, tracked_ms, changes_seen } = domain;
    const kept = { last_scanned_at, measured, rulebook, is_waiting, tracked_ms, changes_seen };
    return { ...counted, looked: { ...kept, next_due_at: retryAt(now, domain, options), failures: failures + 1 } };
  }
  // Another process was faster with a later look: history never runs backwards.
  if (now < (domain.last_scanned_at ?? 0)) return counted;

  const { previous, measuredBefore } = previousOf(domain, evidence, options.redetect, profile);
  const { confirmAfterMs } = options;
  const result = reconcile(open, profile, { confirmAfterMs, measuredBefore, ...(previous ? { previous } : {}) });
  const told = publishedStateOf(profile, domain);
  const isChanged = isFirst || differs(domain, told) || servicesToldOf(open) !== servicesToldOf(result.open);
  const hasOtherRules = !isFirst && domain.rulebook !== told.rulebook;
  // While something waits, the newest look is kept even if it changes nothing that is told: a new rulebook must not
  // read an older one that lacks what has come back since.
  const isMoving = result.isPending || open.some(({ status }) => status !== 'confirmed');
  return {
    ...counted,
    looked: {
      last_scanned_at: now,
      measured: [...measuredBefore.union(measuredBy(profile))].join(','),
      rulebook: profile.rulebook,
      failures: 0,
      ...schedule(domain, profile, { ...options, isChanged, isWaiting: result.isPending }),
    },
    intervals: intervalWrites(domain, open, result, now),
    changes: newChanges(result, open),
    ...(isChanged ? { difference: { profile, now, isFirst, told, known: open, open: result.open } } : {}),
    ...(isChanged || isMoving || hasOtherRules ? { evidence: packed(scan.evidence) } : {}),
  };
}

/** Whether what this rulebook would read of the domain is in the evidence that is kept. */
export function isReadAnew(row: DomainRow, { profile }: ScanRecord, { redetect }: RecordOptions): boolean {
  return redetect !== undefined && row.rulebook !== null && row.rulebook !== profile.rulebook;
}

/** When the domain is looked at again, and what the schedule knows of it by then. */
function schedule(
  domain: Domain,
  { domain: name, observedAt, rulebook }: Profile,
  options: PlanOptions & { readonly isChanged: boolean; readonly isWaiting: boolean },
): Pick<Looked, 'next_due_at' | 'is_waiting' | 'tracked_ms' | 'changes_seen'> {
  const now = Date.parse(observedAt);
  const { confirmAfterMs, rescanAfterMs: usualMs, isWaiting } = options;
  const elapsedMs = domain.last_scanned_at === null ? 0 : now - domain.last_scanned_at;
  // What other rules say of the same records is no change of the domain's.
  const isChanged = options.isChanged && domain.last_scanned_at !== null && domain.rulebook === rulebook;
  const history = withLook({ trackedMs: domain.tracked_ms, changes: domain.changes_seen }, { elapsedMs, isChanged });
  const isWatched = domain.asked_at !== null && now - domain.asked_at < WATCHED_MS;
  const usually = nextLookAt(name, now, intervalOf(history, { usualMs, isWatched }));
  return {
    // A millisecond more, so that the second look is surely far enough from the first.
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

/** What a plan needs of the row. */
type Domain = Pick<DomainRow, keyof typeof NEVER_SCANNED>;

function timeOf({ profile }: ScanRecord): number {
  const now = Date.parse(profile.observedAt);
  if (Number.isNaN(now)) throw new Error(`a scan of ${profile.domain} does not say when it was made`);
  return now;
}

/** What this rulebook has read of the domain so far; under a new rulebook, that is the evidence kept, read again. */
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

/** DNS records that the probe saw: how much a domain publishes, whoever serves it. */
function recordsIn({ dns }: Evidence): number {
  const { named, wildcardA: _a, wildcardTxt: _txt, wildcardMx: _mx, ...asked } = dns;
  const lookups = [...Object.values(asked), ...Object.values(named)];
  return lookups.reduce((sum, { records, aliases }) => sum + records.length + aliases.length, 0);
}

/** A window of 8 KiB costs half the time of the default's 32 and packs evidence as small. */
const PACKING = { level: 3, windowBits: 13, memLevel: 6 } as const;

function packed(evidence: Evidence): Uint8Array {
  return deflateSync(JSON.stringify(evidence), PACKING);
}

function differs(domain: Domain, told: PublishedState): boolean {
  return (
    domain.summary !== told.summary ||
    domain.state !== told.state ||
    domain.sector !== told.sector ||
    domain.posture_bits !== told.posture_bits ||
    domain.holder_bits !== told.holder_bits
  );
}

/** What a reader is told of the services: a pending one is not, a first miss changes nothing yet. */
function servicesToldOf(services: readonly KnownService[]): string {
  const told = services.filter((service) => service.status !== 'pending');
  return JSON.stringify(told.map((s) => [keyOf(s), s.confidence, s.score, s.evidence, s.version, s.platform]).sort());
}

function measuredBy(profile: Profile): ReadonlySet<Source> {
  return new Set(
    SOURCES.filter((source) => profile.sources[source] === 'observed' || profile.sources[source] === 'absent'),
  );
}

function retryAt(now: number, { failures }: Domain, { rescanAfterMs }: PlanOptions): number {
  return now + Math.min(RETRY_AFTER_MS * 2 ** Math.min(failures, 10), rescanAfterMs);
}
