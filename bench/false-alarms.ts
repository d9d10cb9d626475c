// A year in which nothing happens but chance, 500 providers, 3 series each: how many alarms, and which real events are found.
import { MIN_SAMPLES, WINDOW_DAYS } from '../packages/analytics/src/anomalies/anomaly.ts';
import {
  judgeAll,
  type QuietOptions,
  type QuietSeries,
  quietYear,
  withLoss,
} from '../packages/analytics/src/test/quiet-year.ts';
import type { Figure } from './measure.ts';

const PROVIDERS = 500;
const TESTS = PROVIDERS * 3;
/** A year of judgements: the first days fill the window. */
const YEAR = { providers: PROVIDERS, days: MIN_SAMPLES + 365, domains: 1_000_000, seed: 1 };
const GOAL = 'goal: a handful (budget 3.65)';

const worlds: [string, Partial<QuietOptions>][] = [
  ['single events', {}],
  ['panel grows 1 % a day', { growth: 0.01 }],
  ['rates sway by half', { sway: 0.5 }],
  ['batches of 2', { batch: 2 }],
  ['batches of 3', { batch: 3 }],
  ['batches of 4 and sway', { batch: 4, sway: 0.5 }],
];

export async function benchFalseAlarms(): Promise<Figure[]> {
  const quiet = worlds.map(([what, options]) => [what, quietYear({ ...YEAR, ...options })] as const);
  const [, plain = []] = quiet[0] ?? [];
  return [
    ...quiet.map(([what, series]): Figure => {
      const bare = `3σ alone ${bareAlarms(series, 0)}, with Poisson floor ${bareAlarms(series, 1)}`;
      const against = `${bare}, and minimum effect ${alarms(series, 0)}; ${GOAL}`;
      return [`false alarms a year, ${what}`, `${alarms(series, TESTS)}`, against];
    }),
    ...events(plain),
  ];
}

function alarms(series: readonly QuietSeries[], tests: number): number {
  return series.reduce((total, each) => total + judgeAll(each, tests).length, 0);
}

/** The textbook rule: more than 3 deviations of the trailing window, `floor` times a Poisson's at least. */
function bareAlarms(series: readonly QuietSeries[], floor: 0 | 1): number {
  let total = 0;
  for (const { samples } of series) {
    for (const [i, { day, value, exposure }] of samples.entries()) {
      const window = samples.slice(Math.max(0, i - WINDOW_DAYS), i).filter((past) => day - past.day <= WINDOW_DAYS);
      if (window.length < MIN_SAMPLES) continue;
      const scaled = window.map((past) => (past.value * exposure) / past.exposure);
      const mean = scaled.reduce((a, b) => a + b, 0) / scaled.length;
      const variance = scaled.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (scaled.length - 1);
      if (Math.abs(value - mean) > 3 * Math.sqrt(Math.max(variance, floor * Math.max(mean, 1)))) total += 1;
    }
  }
  return total;
}

/** Each event is put into a year of its own, on the same day for all providers of its kind. */
function events(series: readonly QuietSeries[]): Figure[] {
  const day = 200;
  const held = new Map(
    series
      .filter(({ metric }) => metric === 'domains')
      .map((each) => [each.provider, each.samples.find((sample) => sample.day === day - 1)?.value ?? 0]),
  );
  const usual = ({ samples }: QuietSeries) => samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
  const losses = series.filter(({ metric }) => metric === 'losses');
  const ones = losses.filter((each) => usual(each) >= 0.75 && usual(each) < 1.5);
  const lost = (share: number) => (each: QuietSeries) => Math.round((held.get(each.provider) ?? 0) * share);
  const levels = series.filter(({ metric }) => metric === 'domains');
  return [
    ...[10, 20, 30].map((count) => found(`${count} domains lost in a day where 1 is usual`, ones, () => count)),
    ...[0.02, 0.05, 0.1, 0.5].map((share) =>
      found(`${share * 100} % lost in a day, found in losses`, losses, lost(share)),
    ),
    ...[0.1, 0.2, 0.5].map((share) => found(`${share * 100} % lost in a day, found in domains`, levels, lost(share))),
  ];

  function found(what: string, among: readonly QuietSeries[], domains: (each: QuietSeries) => number): Figure {
    const hits = among.filter((each) => {
      const touched = withLoss(each, { day, domains: domains(each) });
      const recent = touched.samples.filter((sample) => sample.day <= day && day - sample.day <= WINDOW_DAYS);
      return judgeAll({ ...touched, samples: recent }, TESTS).some((anomaly) => anomaly.day === day);
    });
    return [what, `${hits.length} of ${among.length} found`, /30 domains|50 %/.test(what) ? 'goal: all' : ''];
  }
}
