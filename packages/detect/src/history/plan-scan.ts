// What a scan changes in the history of its domain: intervals, changes, the published state and the next scan. Pure.
import type { Evidence } from '../evidence/evidence.ts';
import { stillParked } from '../judge/still-parked.ts';
import { type Profile, type RoleOf, SOURCES, type Source } from '../profile.ts';
import { type KnownRecords, planRecords, type RecordChanges } from '../records/plan-records.ts';
import { type NewChange, newChanges } from './change.ts';
import { type IntervalChanges, intervalChanges, type OpenInterval } from './intervals.ts';
import type { KnownService } from './known-service.ts';
import {
  differs,
  type PublishedBefore,
  type PublishedState,
  publishedServices,
  publishedStateOf,
} from './published-state.ts';
import { reconcile } from './reconcile.ts';
import { type ChangeHistory, intervalOf, nextScanAt, UNKNOWN, withScan } from './schedule.ts';

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
  /** The current roles of known services; those of a provider that has left the catalog stay as they were stored. */
  readonly roleOf?: RoleOf;
}

export interface PlanOptions extends RecordOptions {
  /** The usual interval between two scans of a domain. */
  readonly rescanAfterMs: number;
}

/** What every counted scan updates. */
export interface ScanState {
  readonly lastScannedAt: number | null;
  /** The first scan that measured it. */
  readonly firstScannedAt: number | null;
  /** Confirmation of its last change, except of reclassifications. */
  readonly changedAt: number | null;
  /** Sources that any scan has measured. */
  readonly measured: ReadonlySet<Source>;
  /** A new rulebook with the same result is stored without an event, so that a release does not emit an event for each domain. */
  readonly rulebook: string | null;
  /** Consecutive scans that resolved nothing. */
  readonly failures: number;
  /** A service waits for a second observation. */
  readonly isWaiting: boolean;
  readonly changeHistory: ChangeHistory;
  /** Digest of the last observation of its records. */
  readonly recordDigest: string | null;
}

/** A domain before a scan. */
export interface KnownDomain extends ScanState, PublishedBefore {
  readonly requestedAt: number | null;
  readonly open: readonly OpenInterval[];
  /** Undefined if the scan observed the same records as the last one. */
  readonly records?: KnownRecords | undefined;
  /** Parses the stored evidence; needed only if the rulebook has changed. */
  readonly storedEvidence?: () => Evidence;
}

export const NEVER_SCANNED: KnownDomain = {
  lastScannedAt: null,
  firstScannedAt: null,
  changedAt: null,
  state: null,
  sector: 'unknown',
  country: null,
  rulebook: null,
  summary: null,
  measured: new Set(),
  postureBits: 0,
  holderBits: 0,
  failures: 0,
  isWaiting: false,
  changeHistory: UNKNOWN,
  recordDigest: null,
  requestedAt: null,
  open: [],
};

/** The old and the new published state of a domain. */
export interface Difference {
  readonly published: PublishedState;
  readonly known: readonly KnownService[];
  readonly open: readonly KnownService[];
}

export interface ScanPlan {
  /** As recorded: reduced to parking where the scan could not show that the domain is no longer parked. */
  readonly profile: Profile;
  readonly observedAt: number;
  readonly isFirst: boolean;
  /** Undefined for a scan that is older than the last one: it is counted, and changes nothing. */
  readonly update?: ScanState & { readonly nextDueAt: number };
  readonly intervals?: IntervalChanges;
  readonly changes: readonly NewChange[];
  readonly records?: RecordChanges;
  /** Present if the published state of the domain differs. */
  readonly difference?: Difference;
  /** Whether the evidence of this scan replaces the stored evidence. */
  readonly keepsEvidence: boolean;
}

/** Backoff after a scan that could not resolve the domain; doubles with each consecutive failure. */
const RETRY_AFTER_MS = 15 * 60_000;
/** A requested domain is scanned more often for this time. */
const WATCHED_MS = 7 * 86_400_000;

/** Throws if the stored evidence or summary cannot be parsed. */
export function planScan(known: KnownDomain, scan: ScanRecord, options: PlanOptions): ScanPlan {
  const now = timeOf(scan);
  const profile = stillParked(scan.profile, known);
  const isFirst = known.lastScannedAt === null;
  const counted = { profile, observedAt: now, isFirst, changes: [], keepsEvidence: false };
  if (profile.state === 'unmeasured') {
    // Nothing was resolved: the last successful scan remains valid, and the next one is due sooner.
    const { failures, lastScannedAt, firstScannedAt, changedAt, measured, rulebook } = known;
    const { isWaiting, changeHistory, recordDigest } = known;
    const times = { lastScannedAt, firstScannedAt, changedAt };
    const kept = { ...times, measured, rulebook, isWaiting, changeHistory, recordDigest };
    return { ...counted, update: { ...kept, nextDueAt: retryAt(now, known, options), failures: failures + 1 } };
  }
  // Another process has recorded a later scan: history is never rewritten.
  if (now < (known.lastScannedAt ?? 0)) return counted;

  const { records, lastScannedAt } = known;
  const open = known.open.map((each) => ({
    ...each,
    role: options.roleOf?.(each.category, each.provider) ?? each.role,
  }));
  const { previous, measuredBefore } = previousOf(known, profile, options);
  const { confirmAfterMs } = options;
  const result = reconcile(open, profile, { confirmAfterMs, measuredBefore, ...(previous ? { previous } : {}) });
  const published = publishedStateOf(profile, known, previous);
  const isChanged = isFirst || differs(known, published) || publishedServices(open) !== publishedServices(result.open);
  const hasOtherRules = !isFirst && known.rulebook !== published.rulebook;
  // While a transition is pending, the newest evidence is stored even if nothing published changes: a new rulebook must not
  // evaluate older evidence that lacks what has returned since.
  const isMoving = result.isPending || open.some(({ status }) => status !== 'confirmed');
  return {
    ...counted,
    update: {
      lastScannedAt: now,
      firstScannedAt: known.firstScannedAt ?? firstScan(known, now),
      changedAt: result.changes.some(({ type }) => type !== 'reclassified') ? now : known.changedAt,
      measured: measuredBefore.union(measuredBy(profile)),
      rulebook: profile.rulebook,
      failures: 0,
      isWaiting: result.isPending,
      recordDigest: records?.observed.digest ?? known.recordDigest,
      ...schedule(known, profile, { ...options, isChanged, isWaiting: result.isPending }),
    },
    intervals: intervalChanges(known.open, result, { observedAt: now, lastScannedAt }),
    ...(records
      ? { records: planRecords(records, { at: now, lastScannedAt, isFirst: known.recordDigest === null }) }
      : {}),
    changes: newChanges(result.changes, open, result.open),
    ...(isChanged ? { difference: { published, known: open, open: result.open } } : {}),
    keepsEvidence: isChanged || isMoving || hasOtherRules,
  };
}

/** Whether stored evidence must be evaluated again with the rulebook of this scan. */
export function needsRedetection(
  { rulebook }: Pick<KnownDomain, 'rulebook'>,
  profile: Profile,
  { redetect }: RecordOptions,
): boolean {
  return redetect !== undefined && rulebook !== null && rulebook !== profile.rulebook;
}

/** The next due time, and the updated change history of the domain. */
function schedule(
  known: KnownDomain,
  { domain: name, observedAt, rulebook }: Profile,
  options: PlanOptions & { readonly isChanged: boolean; readonly isWaiting: boolean },
): { readonly nextDueAt: number; readonly changeHistory: ChangeHistory } {
  const now = Date.parse(observedAt);
  const { confirmAfterMs, rescanAfterMs: usualMs, isWaiting } = options;
  const elapsedMs = known.lastScannedAt === null ? 0 : now - known.lastScannedAt;
  // A different result under other rules is not a change of the domain.
  const isChanged = options.isChanged && known.lastScannedAt !== null && known.rulebook === rulebook;
  const changeHistory = withScan(known.changeHistory, { elapsedMs, isChanged });
  const isWatched = known.requestedAt !== null && now - known.requestedAt < WATCHED_MS;
  const usually = nextScanAt(name, now, intervalOf(changeHistory, { usualMs, isWatched }));
  // One millisecond more, so that the second scan is late enough to confirm.
  return { nextDueAt: isWaiting ? Math.min(now + confirmAfterMs + 1, usually) : usually, changeHistory };
}

/** Earlier versions do not store the first scan: then the last one counts, or the first observation of a service. */
const firstScan = ({ lastScannedAt, open }: KnownDomain, now: number): number =>
  Math.min(lastScannedAt ?? now, ...open.map(({ validFrom }) => validFrom));

function timeOf({ profile }: ScanRecord): number {
  const now = Date.parse(profile.observedAt);
  if (Number.isNaN(now)) throw new Error(`a scan of ${profile.domain} has no valid observation time`);
  return now;
}

/** The previous result under this rulebook; under a new rulebook, the stored evidence evaluated again. */
function previousOf(
  known: KnownDomain,
  profile: Profile,
  options: RecordOptions,
): { readonly previous?: Profile; readonly measuredBefore: ReadonlySet<Source> } {
  if (!needsRedetection(known, profile, options)) return { measuredBefore: known.measured };
  const previous = known.storedEvidence && options.redetect?.(known.storedEvidence());
  return previous ? { previous, measuredBefore: measuredBy(previous) } : { measuredBefore: new Set() };
}

function measuredBy(profile: Profile): ReadonlySet<Source> {
  return new Set(
    SOURCES.filter((source) => profile.sources[source] === 'observed' || profile.sources[source] === 'absent'),
  );
}

function retryAt(now: number, { failures }: KnownDomain, { rescanAfterMs }: PlanOptions): number {
  return now + Math.min(RETRY_AFTER_MS * 2 ** Math.min(failures, 10), rescanAfterMs);
}
