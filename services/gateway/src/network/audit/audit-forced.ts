// Audits of workers whose engines draw tokens with their own random numbers: the seed proves nothing, so such a worker
// scores its own answer as a given one, and its log-probabilities are compared with those of the verifiers. Tokens that
// hardly any draw gives count against it whatever its scores are.
import type { ScoreJob } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import type { Verifier } from './audit-panel.ts';
import type { ObservedAnswer } from './trust.ts';

/** Differences by other kernels and number formats of the same weights. */
const ROUNDING_NATS = 0.25;
/** Engines name only the likeliest tokens: further behind the first one, a token's distance is a lower bound. */
const COMPARED_NATS = 3;
/** At temperature 1, e^-16 times as likely as the first token: less than a hundredth for all tokens of a vocabulary. */
const DRAWN_NATS = 16;

/** Whether the seed says nothing of an answer by an engine that draws itself. */
export const isForced = ({ sampling, grammar }: Pick<ObservedAnswer, 'sampling' | 'grammar'>): boolean =>
  sampling.temperature > 0 || grammar !== undefined;

/** How far each token is behind the likeliest one: a fact of the model, whatever drew the token. */
export const forcedJob = ({ prompt, answer }: Pick<ObservedAnswer, 'prompt' | 'answer'>): ScoreJob => ({
  ...{ prompt, answer, hasEnd: false, sampling: GREEDY },
});

/**
 * Verifiers whose margins are the differences between their scores and the worker's own, which is asked once; more for
 * tokens that were hardly drawn. They reject if the worker does not score its answer, which proves nothing.
 */
export function comparedWith(
  worker: Verifier,
  verifiers: readonly Verifier[],
  answer: Pick<ObservedAnswer, 'sampling' | 'grammar'>,
): readonly Verifier[] {
  const farthest = farthestDraw(answer);
  let asked: Promise<readonly number[]> | undefined;
  return verifiers.map(({ peer, score }) => ({
    peer,
    async score(job, signal) {
      asked ??= worker.score(job, signal);
      const [own, theirs] = [await asked, await score(job, signal)];
      if (own.length !== job.answer.length) throw new Error('the worker scored another number of tokens');
      return theirs.map((margin, i) => Math.max(difference(margin, own[i] as number), margin - farthest));
    },
  }));
}

/** Grammars, biases and penalties move tokens to the front by any distance. */
function farthestDraw({ sampling, grammar }: Pick<ObservedAnswer, 'sampling' | 'grammar'>): number {
  const { temperature, logitBias, presencePenalty, frequencyPenalty } = sampling;
  const isMoved = grammar !== undefined || logitBias.size > 0 || presencePenalty !== 0 || frequencyPenalty !== 0;
  return isMoved ? Number.POSITIVE_INFINITY : DRAWN_NATS * temperature + ROUNDING_NATS;
}

function difference(left: number, right: number): number {
  const apart = Math.abs(Math.min(left, COMPARED_NATS) - Math.min(right, COMPARED_NATS));
  return Math.max(0, apart - ROUNDING_NATS);
}
