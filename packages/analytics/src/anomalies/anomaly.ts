// Decides whether today's value of a daily series is an anomaly. A series in, a judgement out; docs/anomalies.md has
// the reasons.
import { countChance } from './anomaly-chance.ts';
import { judgeStep, type Sample } from './anomaly-step.ts';

/** `count`: events of a day (gains, losses, migrations, changes). `level`: a stock at day's end (domains, services, records). */
export type SeriesKind = 'count' | 'level';

export interface JudgeOptions {
  readonly kind: SeriesKind;
  /** Number of series judged on the same day: the more, the stricter. 0 ignores chance. */
  readonly tests: number;
}

export interface Anomaly {
  readonly day: number;
  readonly value: number;
  /** Of the window, scaled to today's exposure. */
  readonly mean: number;
  /** The deviation that was used: at least that of a Poisson count of the same mean, and at least 1. */
  readonly stddev: number;
  /** Signed, (value - mean) / stddev. */
  readonly sigma: number;
  readonly direction: 'up' | 'down';
  readonly samples: number;
  readonly windowDays: typeof WINDOW_DAYS;
  /**
   * Probability, under the null model, of a value as far from the mean (for a level: of a step as large). Two-sided.
   */
  readonly chance: number;
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
}

/** Four complete weeks, so that each weekday has the same weight. */
export const WINDOW_DAYS = 28;
export const MIN_SAMPLES = 14;
const MIN_SIGMA = 3;
/** A smaller change is not reported, however rare. */
const MIN_EFFECT = 5;
/** A silent series counts as two events a day; otherwise any small batch after a silent month would be an anomaly. */
const QUIETEST_MEAN = 2;
/** Expected false alarms per day over all series judged that day: 3.65 a year. */
const DAILY_BUDGET = 0.01;
/** Larger numbers are not measurements; smaller ones have squares that do not overflow. */
const LARGEST = Number.MAX_SAFE_INTEGER;

interface Expectation {
  readonly mean: number;
  readonly stddev: number;
  readonly chance: number;
}

/**
 * Judges `today` by the 28 days before it. Other samples are ignored; days without a measurement are missing in `window`.
 * Earlier anomalies are marked `isAnomaly`; those of a count may also be left out. No judgement with fewer than 14 usual
 * samples, nor of invalid values: not finite, above 2^53, negative counts, exposure below 1.
 */
export function judge(window: readonly Sample[], today: Sample, options: JudgeOptions): Anomaly | undefined {
  const { kind, tests } = options;
  const byDay = new Map<number, Sample>();
  for (const sample of window) {
    const age = today.day - sample.day;
    if (age >= 1 && age <= WINDOW_DAYS && isMeasured(sample, kind)) byDay.set(sample.day, sample);
  }
  const past = [...byDay.values()].sort((a, b) => a.day - b.day);
  const usual = past.filter((sample) => !sample.isAnomaly);
  if (usual.length < MIN_SAMPLES || !isMeasured(today, kind)) return undefined;

  const expected = kind === 'count' ? expectCount(usual, today) : expectLevel(past, usual, today);
  if (!expected) return undefined;
  const { mean, stddev, chance } = expected;
  const sigma = (today.value - mean) / stddev;
  if (Math.abs(sigma) < MIN_SIGMA || Math.abs(today.value - mean) < MIN_EFFECT) return undefined;
  if (chance * tests > DAILY_BUDGET) return undefined;
  return {
    day: today.day,
    value: today.value,
    mean,
    stddev,
    sigma,
    direction: sigma > 0 ? 'up' : 'down',
    samples: usual.length,
    windowDays: WINDOW_DAYS,
    chance,
    severity: severityOf(Math.abs(sigma)),
  };
}

/**
 * A count is Poisson for its exposure, times a rate that may vary from day to day: variance = mean + excess. Days are
 * weighted by exposure, so that a day with few scans has little weight.
 */
function expectCount(usual: readonly Sample[], today: Sample): Expectation {
  const n = usual.length;
  const exposure = sum(usual, (sample) => sample.exposure);
  const rate = sum(usual, (sample) => sample.value) / exposure;
  const mean = rate * today.exposure;
  const squares = sum(usual, (sample) => (sample.value - rate * sample.exposure) ** 2);
  const squaredExposure = sum(usual, (sample) => sample.exposure ** 2);
  // The excess grows with the square of exposure if the rate varies, and in proportion if events come in batches: the
  // larger
  // of the two applies.
  const growth = (today.exposure * n) / exposure;
  const excessPerSquare = Math.max(0, (squares * n) / (n - 1) - rate * exposure) / squaredExposure;
  const excess = excessPerSquare * today.exposure ** 2 * Math.max(1, 1 / growth);
  const stddev = Math.sqrt(Math.max(mean + excess, 1));

  const nullMean = Math.max(mean, QUIETEST_MEAN);
  // The excess of a Poisson count is 0 except by chance: only the part above its own standard error counts.
  const ofChance = nullMean * Math.max(1, growth) * Math.sqrt(2 / (n - 1) + growth / (n * nullMean));
  const sureExcess = Math.max(0, excess - ofChance);
  const ofMean = (nullMean * today.exposure) / exposure + (sureExcess * squaredExposure) / exposure ** 2;
  const variance = nullMean + sureExcess + ofMean;
  return { mean, stddev, chance: countChance(today.value, { mean: nullMean, variance, freedom: n - 1 }) };
}

/**
 * A level drifts, so its distance from the mean says little about chance; the step that led there does. Undefined if the
 * step is usual, or led back towards the mean.
 */
function expectLevel(past: readonly Sample[], usual: readonly Sample[], today: Sample): Expectation | undefined {
  const scaled = usual.map((sample) => sample.value * (today.exposure / sample.exposure));
  const mean = sum(scaled, (value) => value) / scaled.length;
  const variance = sum(scaled, (value) => (value - mean) ** 2) / (scaled.length - 1);
  const stddev = Math.sqrt(Math.max(variance, Math.abs(mean), 1));
  const step = judgeStep(past, today);
  const isAway = Math.sign(step.surprise) === Math.sign(today.value - mean);
  const isUsual = Math.abs(step.surprise) < MIN_EFFECT || Math.abs(step.sigma) < MIN_SIGMA;
  return isAway && !isUsual ? { mean, stddev, chance: step.chance } : undefined;
}

function isMeasured({ value, exposure }: Sample, kind: SeriesKind): boolean {
  if (!(Math.abs(value) <= LARGEST && exposure >= 1 && exposure <= LARGEST)) return false;
  return kind === 'level' || value >= 0;
}

function severityOf(size: number): Anomaly['severity'] {
  if (size > 10) return 'critical';
  if (size > 6) return 'high';
  return size > 4 ? 'medium' : 'low';
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
