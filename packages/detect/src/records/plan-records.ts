// What an observation changes in the records of a domain: one interval for each time a value was published. Pure.
import type { ObservedRecords } from './observed-records.ts';
import type { RecordKind } from './record-kinds.ts';

/** An interval of one value. Times are milliseconds since the epoch. */
export interface RecordInterval {
  readonly kind: RecordKind;
  readonly value: string;
  readonly firstSeen: number;
  /** Null: the last scan of the domain observed it, so that an unchanged scan writes no row. */
  readonly lastSeen: number | null;
  /** The first successful look-up without the value; null while it is present. */
  readonly endedAt: number | null;
}

/** The stored intervals of a domain, and the observation of this scan. */
export interface KnownRecords {
  readonly intervals: readonly RecordInterval[];
  readonly observed: ObservedRecords;
}

export interface RecordChanges {
  /** New and changed intervals, by kind, value and `firstSeen`. */
  readonly put: readonly RecordInterval[];
  readonly dropped: readonly RecordInterval[];
}

/** Ended intervals of one domain; the newest are kept. */
const MAX_ENDED = 500;
/** Addresses of pools alternate: one that returns within this time continues its interval. */
const POOL_MS = 30 * 86_400_000;
const POOLED = new Set<RecordKind>(['address', 'network', 'asn']);

/** The value of an interval in which a kind was not measured yet: before its end, other values are unknown. */
export const UNMEASURED = '';

interface PlanRecordsOptions {
  readonly at: number;
  /** The last scan that counted before this one. */
  readonly lastScannedAt: number | null;
  /** No observation was recorded before. */
  readonly isFirst: boolean;
}

/** A kind that was not measured ends nothing. */
export function planRecords(
  { intervals, observed }: KnownRecords,
  { at, lastScannedAt, isFirst }: PlanRecordsOptions,
): RecordChanges {
  const put: RecordInterval[] = [];
  if (isFirst) {
    const begun = { value: UNMEASURED, firstSeen: at, lastSeen: null, endedAt: null };
    for (const kind of observed.unmeasured) put.push({ ...begun, kind });
  }
  const missing = new Map([...observed.values].map(([kind, values]) => [kind, new Set(values)]));
  const ended: RecordInterval[] = [];
  for (const interval of intervals) {
    const { kind, value, endedAt, lastSeen } = interval;
    if (endedAt !== null) ended.push(interval);
    else if (missing.get(kind)?.delete(value)) {
      if (lastSeen !== null) put.push({ ...interval, lastSeen: null });
    } else {
      const last = lastSeen ?? lastScannedAt ?? interval.firstSeen;
      if (!observed.unmeasured.has(kind)) put.push({ ...interval, lastSeen: last, endedAt: at });
      else if (lastSeen === null) put.push({ ...interval, lastSeen: last });
    }
  }
  for (const [kind, values] of missing) {
    for (const value of values) put.push(continued(ended, { kind, value, at }));
  }
  const isKept = new Set(put.map(keyOf));
  const now = put.filter(({ endedAt }) => endedAt !== null).length;
  const old = ended.filter((interval) => interval.value !== UNMEASURED && !isKept.has(keyOf(interval)));
  const dropped = old.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0)).slice(Math.max(MAX_ENDED - now, 0));
  return { put, dropped };
}

function continued(
  ended: readonly RecordInterval[],
  { kind, value, at }: { readonly kind: RecordKind; readonly value: string; readonly at: number },
): RecordInterval {
  const isContinued = ({ firstSeen, endedAt }: RecordInterval) =>
    firstSeen === at || (POOLED.has(kind) && at - (endedAt ?? at) < POOL_MS);
  const before = ended.findLast((each) => each.kind === kind && each.value === value && isContinued(each));
  return { kind, value, firstSeen: before?.firstSeen ?? at, lastSeen: null, endedAt: null };
}

function keyOf({ kind, value, firstSeen }: RecordInterval): string {
  return `${kind} ${firstSeen} ${value}`;
}
