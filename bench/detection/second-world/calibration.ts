// A reliability diagram: of the claims with about one score, the share that is true (https://arxiv.org/abs/1706.04599, section 2).

export interface Outcome {
  /** 0–1. */
  readonly score: number;
  readonly isTrue: boolean;
}

export interface Bin {
  readonly from: number;
  readonly claims: number;
  /** Means of the bin. */
  readonly score: number;
  readonly share: number;
}

const BINS = 10;

/** Bins that have claims, by score. */
export function reliability(outcomes: readonly Outcome[]): readonly Bin[] {
  const byBin = Map.groupBy(outcomes, ({ score }) => Math.min(BINS - 1, Math.floor(score * BINS)));
  return [...byBin]
    .sort(([a], [b]) => a - b)
    .map(([bin, inside]) => ({
      from: bin / BINS,
      claims: inside.length,
      score: inside.reduce((sum, { score }) => sum + score, 0) / inside.length,
      share: inside.filter(({ isTrue }) => isTrue).length / inside.length,
    }));
}

/** Expected calibration error: the mean distance of score and share, by claims. */
export function calibrationError(bins: readonly Bin[]): number {
  const claims = bins.reduce((sum, bin) => sum + bin.claims, 0);
  return bins.reduce((sum, bin) => sum + (bin.claims / claims) * Math.abs(bin.share - bin.score), 0);
}
