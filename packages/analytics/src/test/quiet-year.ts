// A seeded world in which nothing happens but chance: providers of Zipf sizes that gain and lose domains day by day.
import { normal, randomFrom } from '../../../../tests/support/random.ts';
import { type Anomaly, judge, type SeriesKind, WINDOW_DAYS } from '../anomalies/anomaly.ts';
import type { Sample } from '../anomalies/anomaly-step.ts';

export interface QuietOptions {
  readonly providers: number;
  readonly days: number;
  readonly seed: number;
  /** Distributed among the providers as 1/rank. */
  readonly domains: number;
  /** Events come in batches of this mean size (geometric); 1 for one by one. */
  readonly batch?: number;
  /** How far a provider's rate sways from day to day (deviation of its logarithm). */
  readonly sway?: number;
  /** The panel's growth a day. */
  readonly growth?: number;
  /** Share of days without a scan. */
  readonly gaps?: number;
}

export interface QuietSeries {
  readonly provider: number;
  readonly metric: 'gains' | 'losses' | 'domains';
  readonly kind: SeriesKind;
  readonly samples: readonly Sample[];
}

/** Of a provider's domains leave in a day, and about as many come: 1 % a month. */
const DAILY_CHURN = 0.01 / 30;
/** Saturday and Sunday bring 70 % of a weekday. */
const WEEKEND = 0.7;

export function quietYear(options: QuietOptions): QuietSeries[] {
  const { providers, days, domains, growth = 0, gaps = 0 } = options;
  const random = randomFrom(options.seed);
  const harmonic = Array.from({ length: providers }, (_, i) => 1 / (i + 1)).reduce((a, b) => a + b, 0);
  const isScanned = Array.from({ length: days }, () => random() >= gaps);
  return Array.from({ length: providers }, (_, provider) => {
    let held = Math.round(domains / harmonic / (provider + 1));
    let panel = domains;
    const gains: Sample[] = [];
    const losses: Sample[] = [];
    const levels: Sample[] = [];
    for (let day = 0; day < days; day += 1) {
      const joined = poisson(held * growth, random);
      panel *= 1 + growth;
      const rate = held * DAILY_CHURN * (day % 7 >= 5 ? WEEKEND : 1);
      const gained = events(rate, options, random);
      const lost = Math.min(held, events(rate, options, random));
      held += joined + gained - lost;
      if (!isScanned[day]) continue;
      levels.push({ day, value: held, exposure: panel });
      // The day after a gap is no sample of a count.
      if (day > 0 && !isScanned[day - 1]) continue;
      gains.push({ day, value: gained, exposure: panel });
      losses.push({ day, value: lost, exposure: panel });
    }
    return [
      { provider, metric: 'gains', kind: 'count', samples: gains } as const,
      { provider, metric: 'losses', kind: 'count', samples: losses } as const,
      { provider, metric: 'domains', kind: 'level', samples: levels } as const,
    ];
  }).flat();
}

/** Judges each day of a series sequentially, with earlier anomalies marked. */
export function judgeAll({ kind, samples }: QuietSeries, tests: number): Anomaly[] {
  const found: Anomaly[] = [];
  let window: Sample[] = [];
  for (const today of samples) {
    window = window.filter((sample) => today.day - sample.day <= WINDOW_DAYS);
    const anomaly = judge(window, today, { kind, tests });
    if (anomaly) found.push(anomaly);
    window.push(anomaly ? { ...today, isAnomaly: true } : today);
  }
  return found;
}

/** The same provider, had it lost so many domains more on that day. */
export function withLoss(series: QuietSeries, loss: { readonly day: number; readonly domains: number }): QuietSeries {
  if (series.metric === 'gains') return series;
  const change = series.metric === 'losses' ? loss.domains : -loss.domains;
  const isTouched = (day: number) => (series.metric === 'losses' ? day === loss.day : day >= loss.day);
  const samples = series.samples.map((each) => (isTouched(each.day) ? { ...each, value: each.value + change } : each));
  return { ...series, samples };
}

function events(rate: number, { batch = 1, sway = 0 }: QuietOptions, random: () => number): number {
  const today = sway > 0 ? rate * Math.exp(sway * normal(random) - sway ** 2 / 2) : rate;
  let total = 0;
  for (let left = poisson(today / batch, random); left > 0; left -= 1) total += geometric(batch, random);
  return total;
}

/** Exact for any mean: a sum of small ones, each counted by multiplying uniform numbers. */
function poisson(mean: number, random: () => number): number {
  let total = 0;
  for (let left = mean; left > 0; left -= 20) {
    const limit = Math.exp(-Math.min(left, 20));
    for (let product = random(); product > limit; product *= random()) total += 1;
  }
  return total;
}

const geometric = (mean: number, random: () => number): number =>
  mean > 1 ? 1 + Math.floor(Math.log1p(-random()) / Math.log1p(-1 / mean)) : 1;
