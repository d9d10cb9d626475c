// Audits of workers whose engines draw tokens with their own random numbers: the seed proves nothing, so such a worker
// scores its own answer as a given one, and its log-probabilities are compared with those of the verifiers.
import type { ScoreJob } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import type { Verifier } from './audit-panel.ts';
import type { ObservedAnswer } from './trust.ts';

/** Differences by other kernels and number formats of the same weights. */
const ROUNDING_NATS = 0.25;
/** Engines name only the likeliest tokens: further behind the first one, a token's distance is a lower bound. */
const COMPARED_NATS = 3;

/** Whether the seed says nothing of an answer by an engine that draws itself. */
export const isForced = ({ sampling, grammar }: Pick<ObservedAnswer, 'sampling' | 'grammar'>): boolean =>
  sampling.temperature > 0 || grammar !== undefined;

/** How far each token is behind the likeliest one: a fact of the model, whatever drew the token. */
export const forcedJob = ({ prompt, answer }: Pick<ObservedAnswer, 'prompt' | 'answer'>): ScoreJob => ({
  ...{ prompt, answer, hasEnd: false, sampling: GREEDY },
});

/**
 * Verifiers whose margins are the differences between their scores and the worker's own, which is asked once. They reject
 * if the worker does not score its answer, which proves nothing.
 */
export function comparedWith(worker: Verifier, verifiers: readonly Verifier[]): readonly Verifier[] {
  let asked: Promise<readonly number[]> | undefined;
  return verifiers.map(({ peer, score }) => ({
    peer,
    async score(job, signal) {
      asked ??= worker.score(job, signal);
      const [own, theirs] = [await asked, await score(job, signal)];
      if (own.length !== job.answer.length) throw new Error('the worker scored another number of tokens');
      return theirs.map((margin, i) => difference(margin, own[i] as number));
    },
  }));
}

function difference(left: number, right: number): number {
  const apart = Math.abs(Math.min(left, COMPARED_NATS) - Math.min(right, COMPARED_NATS));
  return Math.max(0, apart - ROUNDING_NATS);
}
