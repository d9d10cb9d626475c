// How a worker replays the tokens that another worker has generated: exactly, if that is fast enough, otherwise in one
// batch.

/** Assumed speed if it is unknown: a medium-sized model on a few processor cores. */
const UNKNOWN_TOKENS_PER_SECOND = 20;

/**
 * The share of the budget for everything before the replay: detecting the loss, asking another worker, reading the
 * prompt.
 */
const RECOVERY_MS = 200;

/** Maximum interruption when a worker is lost. */
const REPLAY_BUDGET_MS = 1_000;

/**
 * `budgetMs` is the maximum duration of an interruption. `exact` replays the given tokens one by one if they fit into
 * the remaining budget: the rest of the answer is then identical. `fast` replays them in one batch; a near tie between
 * two tokens may then be decided differently. A speed of 0 or undefined is unknown.
 */
export function replayOf({
  givenTokens,
  decodeTokensPerSecond,
  budgetMs = REPLAY_BUDGET_MS,
}: {
  readonly givenTokens: number;
  readonly decodeTokensPerSecond: number | undefined;
  readonly budgetMs?: number;
}): 'exact' | 'fast' {
  const isKnown = decodeTokensPerSecond !== undefined && decodeTokensPerSecond > 0;
  const speed = isKnown ? decodeTokensPerSecond : UNKNOWN_TOKENS_PER_SECOND;
  if (givenTokens === 0) return 'exact';
  return (givenTokens / speed) * 1_000 <= budgetMs - RECOVERY_MS ? 'exact' : 'fast';
}
