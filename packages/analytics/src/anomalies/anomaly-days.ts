// The days on which a series can be evaluated: a day with few scans shows nothing, and the day after shows two.
import { WINDOW_DAYS } from './anomaly.ts';

interface DayScans {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  readonly scans: number;
}

interface ReadableDays {
  /** Scanned at least half as much as a usual day. False outside the window. */
  isReadable(day: number): boolean;
  /** Readable, but the day before is not: its events are those of several days, so it is not a sample of a count. */
  followsGap(day: number): boolean;
}

/**
 * For judging `day` by the 28 days before it. A usual day is the median of the window's scanned days, `day` included.
 * The first day of the window also needs the day before it, so pass 30 days. An unknown day counts as a gap.
 */
export function readableDays(scansByDay: readonly DayScans[], day: number): ReadableDays {
  const scans = new Map<number, number>();
  for (const each of scansByDay) {
    const age = day - each.day;
    if (age >= 0 && age <= WINDOW_DAYS + 1 && each.scans > 0) scans.set(each.day, each.scans);
  }
  const inWindow = [...scans].filter(([at]) => day - at <= WINDOW_DAYS).map(([, count]) => count);
  const half = median(inWindow) / 2;
  const isScanned = (at: number) => (scans.get(at) ?? 0) >= half && scans.has(at);
  const isReadable = (at: number) => day - at <= WINDOW_DAYS && isScanned(at);
  return { isReadable, followsGap: (at) => isReadable(at) && !isScanned(at - 1) };
}

/** Infinity without values. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? upper;
  return lower / 2 + upper / 2;
}
