// The trial of a worker before it gets traffic of a pinned model: it answers a random prompt, and workers that have
// proved the file, or this gateway's own engine, score the answer. A worker cannot pass it by claiming scores.
import { type Engine, EngineError, type Job, type ScoreJob } from '@strata/engine';
import { deviation, GREEDY, TOLERATED_DEVIATION } from '@strata/inference';
import { ownPart, scoreOf, type Verifier } from '../audit/audit-panel.ts';

export interface TrialOptions {
  readonly vocabularySize: number;
  /** Its engine ignores the noise of our seed: only an answer at temperature 0 can be checked. */
  readonly drawsItself?: boolean;
  /** In the order to ask; the first three that answer decide. */
  readonly verifiers: readonly Verifier[];
  readonly random: () => number;
  readonly signal: AbortSignal;
}

export type TrialResult =
  /** By this many verifiers; 0: this gateway's own engine. */
  | { readonly kind: 'passed'; readonly verifiers: number }
  | { readonly kind: 'failed' }
  /** No verifier scored it. */
  | { readonly kind: 'unscored' };

const PROMPT_TOKENS = 24;
const ANSWER_TOKENS = 32;
/** A short answer may deviate more than the tolerated mean. */
const MAX_DEVIATION = 4 * TOLERATED_DEVIATION;
const MAX_VERIFIERS = 3;
const TIMEOUT_MS = 60_000;

/** `worker`: an engine that only this worker serves. Rejects with EngineError if it does not answer. */
export async function trial(
  worker: Pick<Engine, 'generate'>,
  { vocabularySize, drawsItself = false, verifiers, random, signal }: TrialOptions,
): Promise<TrialResult> {
  const draw = (below: number) => Math.floor(random() * below);
  const prompt = Array.from({ length: PROMPT_TOKENS }, () => draw(vocabularySize));
  const sampling = { ...GREEDY, temperature: drawsItself ? 0 : 1, seed: draw(2 ** 32) };
  const job: Job = { prompt, given: [], replay: 'exact', maxTokens: ANSWER_TOKENS, sampling };
  const answer: number[] = [];
  let hasEnd = false;
  for await (const event of worker.generate(job, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))) {
    if (event.kind === 'token') answer.push(event.token);
    if (event.kind === 'end') hasEnd = event.reason === 'stop';
  }
  if (answer.length === 0 && !hasEnd) throw new EngineError('no-worker', 'the worker ended its answer without a token');
  return judged({ prompt, answer, hasEnd, sampling, maxTokens: ANSWER_TOKENS }, verifiers, signal);
}

async function judged(job: ScoreJob, verifiers: readonly Verifier[], signal: AbortSignal): Promise<TrialResult> {
  const votes: boolean[] = [];
  for (const verifier of verifiers) {
    const margins = await scoreOf(verifier, job, { timeoutMs: TIMEOUT_MS, signal });
    if (margins?.length !== job.answer.length + (job.hasEnd ? 1 : 0)) continue;
    const isClean = deviation(ownPart(job, margins, 0)) <= MAX_DEVIATION;
    if (verifier.peer === undefined) return isClean ? { kind: 'passed', verifiers: 0 } : { kind: 'failed' };
    votes.push(isClean);
    if (votes.length === MAX_VERIFIERS) break;
  }
  const clean = votes.filter((isClean) => isClean).length;
  if (votes.length === 0) return { kind: 'unscored' };
  // With the worker's own vote, a majority.
  return clean * 2 >= votes.length && clean > 0 ? { kind: 'passed', verifiers: clean } : { kind: 'failed' };
}
