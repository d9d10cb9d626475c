// The probability of a value by chance: tails of the negative binomial and of Student's t, through the incomplete beta
// function.
// Formulas: NIST DLMF 8.17 (dlmf.nist.gov/8.17) and 5.11; Abramowitz and Stegun 26.5.26, 26.5.27.

interface CountModel {
  readonly mean: number;
  /** Larger than the mean: a negative binomial is wider than a Poisson distribution. */
  readonly variance: number;
  /** Degrees of freedom of the variance, which is itself estimated: samples minus one. */
  readonly freedom: number;
}

/** Above this ratio of mean to deviation the counts are nearly normal: their skewness is below 2/300. */
const NEARLY_NORMAL = 300;
/** Larger means are scaled down with their deviation: the shape is the same and the continued fraction stays short. */
const LARGEST_MEAN = 1e6;
const MAX_TERMS = 5_000;

/** Chance (0–1, two-sided) of a count as far from the mean as `value`, on its side. `mean` is above 0. */
export function countChance(value: number, { mean, variance, freedom }: CountModel): number {
  const deviation = Math.sqrt(variance);
  const t = (value - mean) / deviation;
  if (mean / deviation > NEARLY_NORMAL) return studentChance(t, freedom);
  const scale = Math.min(1, LARGEST_MEAN / mean);
  const scaledMean = mean * scale;
  const scaledVariance = variance * scale ** 2;
  const equal = scaledMean + asNormal(t, freedom) * deviation * scale;
  const p = scaledMean / scaledVariance;
  const shape = (scaledMean * p) / (1 - p);
  // The two tails of the distribution: P(X ≥ k) and P(X ≤ k).
  const tail = t > 0 ? incompleteBeta(equal, shape, 1 - p) : incompleteBeta(shape, Math.max(equal, 0) + 1, p);
  return Math.min(1, 2 * tail);
}

/** Chance (0–1, two-sided) of a Student's t with `freedom` degrees of freedom as far from 0 as `t`. */
export function studentChance(t: number, freedom: number): number {
  return incompleteBeta(freedom / 2, 0.5, freedom / (freedom + t ** 2));
}

/**
 * The normal deviate with the same probability as `t` (Wallace 1959), which corrects for a scale estimated from few
 * samples.
 */
function asNormal(t: number, freedom: number): number {
  const size = Math.sqrt(freedom * Math.log1p(t ** 2 / freedom));
  return (Math.sign(t) * size * (8 * freedom + 1)) / (8 * freedom + 3);
}

/** I_x(a, b), regularised, for a and b above 0 and x within 0–1. 0 if it is below the smallest number. */
export function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast below the mean of the distribution only; above it, the mirror image does.
  const isAbove = x > (a + 1) / (a + b + 2);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // Rounding may take either out of 0–1 if a or b is huge.
  return isAbove
    ? Math.max(0, 1 - (front * betaFraction(b, a, 1 - x)) / b)
    : Math.min(1, (front * betaFraction(a, b, x)) / a);
}

/** The continued fraction of DLMF 8.17.22, by Lentz's method. */
function betaFraction(a: number, b: number, x: number): number {
  let upper = 1;
  let lower = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let value = lower;
  for (let m = 1; m <= MAX_TERMS; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    lower = 1 / awayFromZero(1 + even * lower);
    upper = awayFromZero(1 + even / upper);
    value *= lower * upper;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    lower = 1 / awayFromZero(1 + odd * lower);
    upper = awayFromZero(1 + odd / upper);
    value *= lower * upper;
    if (Math.abs(lower * upper - 1) < 1e-14) break;
  }
  return value;
}

function awayFromZero(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** ln Γ(x) for x above 0: Stirling's series (DLMF 5.11.1) after a shift above 10, where its error is below 1e-12. */
function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  while (shifted < 10) {
    product *= shifted;
    shifted += 1;
  }
  const inverse = 1 / shifted;
  const square = inverse ** 2;
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)));
  return (shifted - 0.5) * Math.log(shifted) - shifted + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
