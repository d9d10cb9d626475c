// When a domain is looked at again. Pure: the store keeps what it needs of each domain, docs/probing.md explains it.

/** How often what is told of a domain has changed, as far as its looks show it; older looks weigh less. */
export interface ChangeHistory {
  /** Time between looks. */
  readonly trackedMs: number;
  /** Looks that found something else than the one before. */
  readonly changes: number;
}

export interface ScheduleOptions {
  /** The interval of a domain that changes as often as most do, and of one that is new. */
  readonly usualMs: number;
  /** Somebody asked for the domain lately. */
  readonly isWatched: boolean;
}

const DAY_MS = 86_400_000;
/** What is believed before there are looks, and weighs as much as one change seen in this time: what is told changes once in a month. */
const PRIOR_MS = 30 * DAY_MS;
/** A look of so long ago counts half. */
const HALF_LIFE_MS = 90 * DAY_MS;
/** Steps of the interval, two to an octave: from a quarter of the usual one to twice. A domain changes its step seldom. */
const MIN_STEP = -4;
const GREATEST_STEP = 2;
/** The step of half the usual interval: watched domains have no greater one. */
const WATCHED_STEP = -2;

export const UNKNOWN: ChangeHistory = { trackedMs: 0, changes: 0 };

/** The history with one more look. */
export function withLook(
  { trackedMs, changes }: ChangeHistory,
  { elapsedMs, isChanged }: { readonly elapsedMs: number; readonly isChanged: boolean },
): ChangeHistory {
  const weight = 2 ** (-elapsedMs / HALF_LIFE_MS);
  return { trackedMs: Math.round(trackedMs * weight + elapsedMs), changes: changes * weight + Number(isChanged) };
}

/**
 * The interval that sees changes soonest for a number of looks: proportional to the square root of the mean time between changes. Where
 * a change waits for half an interval on average, Σ rate · interval / 2 is least for a given Σ 1 / interval at interval ∝ 1 / √rate.
 */
export function intervalOf(history: ChangeHistory, { usualMs, isWatched }: ScheduleOptions): number {
  const meanMs = (history.trackedMs + PRIOR_MS) / (history.changes + 1);
  // √(mean / prior) as a power of √2.
  const step = Math.min(Math.max(Math.round(Math.log2(meanMs / PRIOR_MS)), MIN_STEP), GREATEST_STEP);
  return usualMs * 2 ** ((isWatched ? Math.min(step, WATCHED_STEP) : step) / 2);
}

/**
 * The next look: where the domain's own moment of the interval comes round, half an interval from now at the earliest and one and a
 * half at the latest. The moment follows from the name, so that domains added together do not stay together.
 */
export function nextLookAt(name: string, nowMs: number, intervalMs: number): number {
  const moment = Math.floor(fractionOf(name) * intervalMs);
  const earliest = nowMs + intervalMs / 2;
  return Math.round(moment + Math.ceil((earliest - moment) / intervalMs) * intervalMs);
}

/** Evenly from 0 to 1, the same for the same name (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, and a last mixing of its bits). */
function fractionOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
