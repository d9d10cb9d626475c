// How a worker reads again what another one has written: as it was made, while that takes no longer than the reader would wait.

/** Taken where nobody knows: what a few processor cores make of a middling model. */
const UNKNOWN_TOKENS_PER_SECOND = 20;

/**
 * `exact` while the given tokens, one by one, fit the budget: then the rest is what it would have been. Beyond that `fast`: all
 * at once, and a near tie may fall to the other side. A speed of 0, or none, is unknown.
 */
export function replayOf({
  givenTokens,
  decodeTokensPerSecond,
  budgetMs,
}: {
  readonly givenTokens: number;
  readonly decodeTokensPerSecond: number | undefined;
  readonly budgetMs: number;
}): 'exact' | 'fast' {
  const isKnown = decodeTokensPerSecond !== undefined && decodeTokensPerSecond > 0;
  const speed = isKnown ? decodeTokensPerSecond : UNKNOWN_TOKENS_PER_SECOND;
  return (givenTokens / speed) * 1_000 <= budgetMs ? 'exact' : 'fast';
}
