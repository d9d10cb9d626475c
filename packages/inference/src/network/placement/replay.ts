// How a worker reads again what another one has written: as it was made, while that takes no longer than the reader would wait.

/** Taken where nobody knows: what a few processor cores make of a middling model. */
const UNKNOWN_TOKENS_PER_SECOND = 20;

/** Of the budget, for what goes before the replay: the loss is seen, another worker is asked, the prompt is read. */
const RECOVERY_MS = 200;

/**
 * The budget is what an interruption may last in all. `exact` while the given tokens, one by one, fit what is left of it: then the rest is what it would have been. Beyond that `fast`: all
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
  if (givenTokens === 0) return 'exact';
  return (givenTokens / speed) * 1_000 <= budgetMs - RECOVERY_MS ? 'exact' : 'fast';
}
