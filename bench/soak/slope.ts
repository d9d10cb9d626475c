// Whether a figure that is looked at again and again grows: the straight line of least squares through what was seen.

export interface Seen {
  readonly atMs: number;
  readonly value: number;
}

export interface Slope {
  readonly perHour: number;
  /** The standard error of that. */
  readonly error: number;
  /** Of the line, from the first look to the last. */
  readonly growth: number;
  readonly mean: number;
}

export function slopeOf(seen: readonly Seen[]): Slope {
  const mean = (of: (each: Seen) => number) => seen.reduce((sum, each) => sum + of(each), 0) / seen.length;
  const [meanAt, meanValue] = [mean(({ atMs }) => atMs), mean(({ value }) => value)];
  const spread = mean(({ atMs }) => (atMs - meanAt) ** 2);
  const perMs = mean(({ atMs, value }) => (atMs - meanAt) * (value - meanValue)) / spread;
  const rest = mean(({ atMs, value }) => (value - meanValue - perMs * (atMs - meanAt)) ** 2);
  const hour = 3_600_000;
  return {
    perHour: perMs * hour,
    error: Math.sqrt(rest / spread / Math.max(1, seen.length - 2)) * hour,
    growth: perMs * ((seen.at(-1)?.atMs ?? 0) - (seen[0]?.atMs ?? 0)),
    mean: meanValue,
  };
}
