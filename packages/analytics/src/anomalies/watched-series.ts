// The daily series that are watched for anomalies, with their samples.
import { CATEGORIES, type Category } from '@strata/detect';
import type { ChangeHistory } from '../history/change-history.ts';
import { type SeriesKind, WINDOW_DAYS } from './anomaly.ts';
import type { Sample } from './anomaly-step.ts';

export interface WatchedSeries {
  readonly subjectKind: 'provider' | 'category';
  readonly subject: string;
  readonly metric: 'domains' | 'gains' | 'losses' | 'migrations';
  readonly kind: SeriesKind;
  /** The days before, and the day itself. */
  readonly samples: readonly Sample[];
  readonly today: Sample;
}

/** What the series are read from: an index, or the history of the days that they need. */
export interface WatchedDomains {
  readonly size: number;
  /** Number of domains that use a provider. */
  usersOf(provider: string): number | undefined;
  readonly history: ChangeHistory;
}

/** The first day of the history that the series of a day need. */
export const firstWatchedDay = (day: number): number => day - WINDOW_DAYS - 1;

/**
 * Every series that can be judged on `day`, a completed day; `now` is the day of the index. A day with few scans, a day on
 * which the rules of a provider changed, and (for counts) a day after a gap is neither a sample nor judged.
 */
export function* watchedSeries(
  index: WatchedDomains,
  { day, now }: { readonly day: number; readonly now: number },
): Generator<WatchedSeries> {
  const scans = index.history.scans.days(firstWatchedDay(day));
  const readable = readableDays(scans, day);
  if (!readable.isReadable(day)) return;
  const scansOn = new Map(scans.map((each) => [each.day, each.scans]));
  // Domains scanned that day; a second scan of a domain adds nothing.
  const exposure = (at: number) => Math.max(1, Math.min(scansOn.get(at) ?? 0, index.size));
  const days = Array.from({ length: WINDOW_DAYS + 1 }, (_, i) => day - WINDOW_DAYS + i).filter((at) =>
    readable.isReadable(at),
  );
  const countDays = days.filter((at) => !readable.followsGap(at));

  for (const provider of index.history.providers()) {
    const isCalm = (at: number) => index.history.reclassifiedOn({ provider }, at) === 0;
    if (!isCalm(day)) continue;
    const subject = { subjectKind: 'provider', subject: provider } as const;
    const levels = levelsOf(index, provider, { day, now });
    const level = days.filter(isCalm).map((at) => ({ day: at, value: levels.get(at) ?? 0, exposure: 1 }));
    yield* split({ ...subject, metric: 'domains', kind: 'level' }, level, day);
    if (readable.followsGap(day)) continue;
    for (const [metric, field] of [
      ['gains', 'gained'],
      ['losses', 'lost'],
    ] as const) {
      const samples = countDays
        .filter(isCalm)
        .map((at) => ({ day: at, value: index.history.movement({ provider }, at, at)[field], exposure: exposure(at) }));
      yield* split(
        { ...subject, metric, kind: 'count' },
        sinceRules(samples, index.history.scans.newestRulebookDay()),
        day,
      );
    }
  }
  if (readable.followsGap(day)) return;
  for (const category of CATEGORIES) {
    const samples = countDays.map((at) => ({
      day: at,
      value: migrationsOn(index, category, at),
      exposure: exposure(at),
    }));
    yield* split({ subjectKind: 'category', subject: category, metric: 'migrations', kind: 'count' }, samples, day);
  }
}

function migrationsOn(index: WatchedDomains, category: Category, day: number): number {
  return index.history.migrations(category, day, day);
}

/** Domains at each day's end on the current panel, computed backwards. */
function levelsOf(
  index: WatchedDomains,
  provider: string,
  { day, now }: { readonly day: number; readonly now: number },
) {
  const levels = new Map<number, number>();
  let value = index.usersOf(provider) ?? 0;
  for (let at = now; at >= day - WINDOW_DAYS; at -= 1) {
    levels.set(at, value);
    const { gained, lost } = index.history.movement({ provider }, at, at);
    value -= gained - lost;
  }
  return levels;
}

/** Before the newest rules a provider may have been undetectable: its zeros before them are not samples. */
function sinceRules(samples: readonly Sample[], rulesFrom: number | undefined): readonly Sample[] {
  if (rulesFrom === undefined) return samples;
  const isBlank = samples.every(({ day, value }) => day >= rulesFrom || value === 0);
  return isBlank && samples.some(({ day }) => day < rulesFrom)
    ? samples.filter(({ day }) => day >= rulesFrom)
    : samples;
}

function* split(
  series: Omit<WatchedSeries, 'samples' | 'today'>,
  samples: readonly Sample[],
  day: number,
): Generator<WatchedSeries> {
  const today = samples.find((sample) => sample.day === day);
  if (today) yield { ...series, samples: samples.filter((sample) => sample.day < day), today };
}

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
