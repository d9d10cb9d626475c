// An answer token by token: logits asked for, a token chosen by the request's rules and its grammar, told, and fed back.
import { type Candidate, chooseToken, logProbability } from '@strata/inference';
import type { LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import type { Job, JobEvent, TokenChoice } from './engine.ts';
import type { GrammarState } from './grammar-state.ts';

export interface AnswerLoopParts {
  readonly model: LlamaModel;
  readonly contextSize: number;
  readonly vocabularySize: number;
  /** Of the likeliest tokens, so many are looked at. */
  readonly candidates: number;
  readonly bytesOf: (token: number) => Uint8Array;
}

/**
 * So many tokens before its end an answer that has a grammar is brought to a close: what is cut short is at least well-formed,
 * and still says that it was cut. Never more than half of an answer.
 */
const CLOSING_TOKENS = 32;

export class AnswerLoop {
  readonly #parts: AnswerLoopParts;
  /** Tokens that end what a JSON text is in, and how much they are preferred: within a string a bracket ends nothing. */
  readonly #closers: ReadonlyMap<number, number>;

  constructor(parts: AnswerLoopParts) {
    this.#parts = parts;
    this.#closers = new Map(
      Object.entries({ '"': 3_000, ']': 2_000, '}': 2_000 }).flatMap(([text, bias]) => {
        const [token, ...more] = parts.model.tokenize(text);
        return token === undefined || more.length > 0 ? [] : [[token as number, bias] as const];
      }),
    );
  }

  /** Answers a job whose prompt has been read up to `last`, telling what comes. */
  async run(
    job: Job,
    parts: {
      sequence: LlamaContextSequence;
      last: number;
      grammar: GrammarState | undefined;
      tell: (event: JobEvent) => void;
      signal: AbortSignal;
    },
  ): Promise<void> {
    const { sequence, grammar, tell, signal } = parts;
    const times = new Map<number, number>();
    for (const token of job.given) {
      times.set(token, (times.get(token) ?? 0) + 1);
      grammar?.accept(token);
    }
    const closesAt = grammar ? job.maxTokens - Math.min(CLOSING_TOKENS, Math.floor(job.maxTokens / 2)) : job.maxTokens;
    const closing: Job = { ...job, sampling: { ...job.sampling, logitBias: this.#closers } };
    const isAllowed = grammar ? (token: number) => grammar.allows(token) : () => true;
    let { last } = parts;
    let isBroughtToClose = false;
    for (let position = job.given.length; ; position += 1) {
      signal.throwIfAborted();
      if (position >= job.maxTokens || sequence.nextTokenIndex >= this.#parts.contextSize)
        return tell({ kind: 'end', reason: 'length' });
      const asked = position < closesAt ? job : closing;
      const step = { position, given: times, isAllowed };
      let { candidates, logTotal } = await this.#logits(sequence, last, { job: asked, given: times });
      let token = chooseToken(candidates, asked.sampling, step);
      if (token === undefined && candidates.length < this.#parts.vocabularySize) {
        // What the grammar allows may be among the least likely: read the last token again, and look at all.
        await sequence.eraseContextTokenRanges([{ start: sequence.nextTokenIndex - 1, end: sequence.nextTokenIndex }]);
        ({ candidates, logTotal } = await this.#logits(sequence, last, { job: asked, given: times, isWhole: true }));
        token = chooseToken(candidates, asked.sampling, step);
      }
      if (asked === closing) isBroughtToClose ||= token !== chooseToken(candidates, job.sampling, step);
      // A grammar that allows nothing more is complete.
      if (token === undefined || this.#parts.model.isEogToken(token as Token))
        return tell({ kind: 'end', reason: isBroughtToClose ? 'length' : 'stop' });
      const logit = candidates.find((each) => each.token === token)?.logit ?? Number.NEGATIVE_INFINITY;
      const chosen = this.#choice({ token, logit }, logTotal);
      const top = job.topLogprobs === undefined ? undefined : candidates.slice(0, job.topLogprobs);
      tell({ kind: 'token', ...chosen, ...(top ? { top: top.map((each) => this.#choice(each, logTotal)) } : {}) });
      times.set(token, (times.get(token) ?? 0) + 1);
      grammar?.accept(token);
      last = token;
    }
  }

  /** What the model makes of one more token: the likeliest candidates, best first, and the logarithm of all weights' sum. */
  async #logits(
    sequence: LlamaContextSequence,
    last: number,
    {
      job,
      given,
      isWhole = false,
    }: { readonly job: Job; readonly given: ReadonlyMap<number, number>; readonly isWhole?: boolean },
  ): Promise<{ readonly candidates: readonly Candidate[]; readonly logTotal: number }> {
    const { temperature, logitBias, presencePenalty, frequencyPenalty } = job.sampling;
    const isSimple = temperature === 0 && !job.grammar;
    // What a penalty or a bias may raise is looked at wherever it stands; what they push down leaves the next one at the top.
    const isPenalised = presencePenalty !== 0 || frequencyPenalty !== 0;
    const moved = [...logitBias.keys(), ...(isPenalised ? given.keys() : [])];
    const few = isSimple ? Math.max(1 + moved.length, job.topLogprobs ?? 0) : this.#parts.candidates;
    const results = await sequence.controlledEvaluate([
      [
        last as Token,
        {
          generateNext: {
            logits: {
              filter: {
                includeTop: isWhole ? this.#parts.vocabularySize : few,
                tokens: moved.filter((token) => token < this.#parts.vocabularySize) as Token[],
              },
            },
            totalLogitWeight: true,
            options: { temperature: 1, topK: 0, topP: 1, minP: 0 },
          },
        },
      ],
    ]);
    const next = results[0]?.next;
    if (!next?.logits || next.totalLogitWeight === undefined) throw new Error('llama.cpp gave no logits');
    const candidates = Array.from(next.logits, ([token, logit]) => ({ token: token as number, logit })).sort(
      (a, b) => b.logit - a.logit || a.token - b.token,
    );
    // Weights are told relative to the largest logit.
    return { candidates, logTotal: (candidates[0]?.logit ?? 0) + Math.log(next.totalLogitWeight) };
  }

  #choice({ token, logit }: Candidate, logTotal: number): TokenChoice {
    return { token, bytes: this.#parts.bytesOf(token), logprob: logProbability(logit, logTotal) };
  }
}
