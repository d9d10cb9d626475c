// A reliability diagram: of the claims with about one score, the share that is right (https://arxiv.org/abs/1706.04599, section 2).
import { randomFor } from '@strata/testnet';

export interface Outcome {
  /** 0–1. */
  readonly score: number;
  readonly isRight: boolean;
}

export interface Bin {
  readonly claims: number;
  /** Means of the bin. */
  readonly score: number;
  readonly share: number;
}

export interface Reliability {
  readonly claims: number;
  readonly right: number;
  /** Expected calibration error: the mean distance of score and share, by claims. */
  readonly error: number;
  /** The error that as many claims exceed in one of twenty draws if each is right with the probability of its score. */
  readonly chance: number;
  readonly bins: readonly Bin[];
}

/** At most so many bins, each with as many claims at least as all would have; equal scores are in one bin. */
const BINS = 10;
const DRAWS = 200;

export function reliabilityOf(outcomes: readonly Outcome[]): Reliability {
  const sorted = outcomes.toSorted((a, b) => a.score - b.score);
  const bins = binsOf(sorted);
  const random = randomFor('calibration', sorted.length, 'chance');
  const draws = Array.from({ length: DRAWS }, () =>
    errorOf(binsOf(sorted.map(({ score }) => ({ score, isRight: random.chance(score) })))),
  ).sort((a, b) => a - b);
  const right = sorted.filter(({ isRight }) => isRight).length / Math.max(1, sorted.length);
  return { claims: sorted.length, right, error: errorOf(bins), chance: draws[Math.floor(DRAWS * 0.95)] ?? 0, bins };
}

function binsOf(sorted: readonly Outcome[]): readonly Bin[] {
  const bins: Bin[] = [];
  let start = 0;
  for (const [i, { score }] of sorted.entries()) {
    const isFull = i + 1 - start >= sorted.length / BINS && sorted[i + 1]?.score !== score;
    if (!isFull && i + 1 < sorted.length) continue;
    const inside = sorted.slice(start, i + 1);
    bins.push({
      claims: inside.length,
      score: inside.reduce((sum, each) => sum + each.score, 0) / inside.length,
      share: inside.filter(({ isRight }) => isRight).length / inside.length,
    });
    start = i + 1;
  }
  return bins;
}

function errorOf(bins: readonly Bin[]): number {
  const claims = bins.reduce((sum, bin) => sum + bin.claims, 0);
  return bins.reduce((sum, bin) => sum + (bin.claims / claims) * Math.abs(bin.share - bin.score), 0);
}
