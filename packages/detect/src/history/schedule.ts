// The schedule of repeated scans. Pure; docs/probing.md explains it.

/** How often the published state of a domain changed between scans; older scans have less weight. */
export interface ChangeHistory {
  /** Weighted time between scans. */
  readonly trackedMs: number;
  /** Weighted number of scans with another result than the previous one. */
  readonly changes: number;
}

export interface ScheduleOptions {
  /** The interval of a domain that changes at the prior rate, and of a new one. */
  readonly usualMs: number;
  /** A client has requested the domain recently. */
  readonly isWatched: boolean;
}

const DAY_MS = 86_400_000;
/** The prior: one change a month, with the weight of one change observed in this time. */
const PRIOR_MS = 30 * DAY_MS;
/** Age at which a scan has half its weight. */
const HALF_LIFE_MS = 90 * DAY_MS;
/** Steps of the interval, two to an octave, from a quarter of the usual interval to twice of it. Steps keep intervals stable. */
const MIN_STEP = -4;
const GREATEST_STEP = 2;
/** The step of half the usual interval, which is the longest for watched domains. */
const WATCHED_STEP = -2;

export const UNKNOWN: ChangeHistory = { trackedMs: 0, changes: 0 };

/** Adds a scan to the history. */
export function withScan(
  { trackedMs, changes }: ChangeHistory,
  { elapsedMs, isChanged }: { readonly elapsedMs: number; readonly isChanged: boolean },
): ChangeHistory {
  const weight = 2 ** (-elapsedMs / HALF_LIFE_MS);
  return { trackedMs: Math.round(trackedMs * weight + elapsedMs), changes: changes * weight + Number(isChanged) };
}

/**
 * The interval that minimizes the mean detection delay for a given number of scans: proportional to the square root of the
 * mean time between changes. A change waits for half an interval on average; Σ rate · interval / 2 is minimal for a given
 * Σ 1 / interval at interval ∝ 1 / √rate.
 */
export function intervalOf(history: ChangeHistory, { usualMs, isWatched }: ScheduleOptions): number {
  const meanMs = (history.trackedMs + PRIOR_MS) / (history.changes + 1);
  // √(mean / prior) as a power of √2.
  const step = Math.min(Math.max(Math.round(Math.log2(meanMs / PRIOR_MS)), MIN_STEP), GREATEST_STEP);
  return usualMs * 2 ** ((isWatched ? Math.min(step, WATCHED_STEP) : step) / 2);
}

/**
 * The next scan: the next occurrence of the domain's own phase within the interval, between half an interval and one and a
 * half intervals from now. The phase is a hash of the name, so that domains added together are spread out.
 */
export function nextScanAt(name: string, nowMs: number, intervalMs: number): number {
  const moment = Math.floor(fractionOf(name) * intervalMs);
  const earliest = nowMs + intervalMs / 2;
  return Math.round(moment + Math.ceil((earliest - moment) / intervalMs) * intervalMs);
}

/** A uniform hash of the name to 0–1 (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, with a final bit mix). */
function fractionOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
