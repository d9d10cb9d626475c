// Whether a sampled figure grows: the least-squares line through its samples.

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface Slope {
  readonly perHour: number;
  /** The standard error of that. */
  readonly error: number;
  /** Of the line, from the first sample to the last. */
  readonly growth: number;
  readonly mean: number;
}

export function slopeOf(samples: readonly Point[]): Slope {
  const mean = (of: (each: Point) => number) => samples.reduce((sum, each) => sum + of(each), 0) / samples.length;
  const [meanAt, meanValue] = [mean(({ atMs }) => atMs), mean(({ value }) => value)];
  const spread = mean(({ atMs }) => (atMs - meanAt) ** 2);
  const perMs = mean(({ atMs, value }) => (atMs - meanAt) * (value - meanValue)) / spread;
  const rest = mean(({ atMs, value }) => (value - meanValue - perMs * (atMs - meanAt)) ** 2);
  const hour = 3_600_000;
  return {
    perHour: perMs * hour,
    error: Math.sqrt(rest / spread / Math.max(1, samples.length - 2)) * hour,
    growth: perMs * ((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)),
    mean: meanValue,
  };
}
