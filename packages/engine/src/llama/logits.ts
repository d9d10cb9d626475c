// What llama.cpp is asked for at one position, and how its answer is read: the candidates of a draw.
import type { Candidate, Sampling } from '@strata/inference';
import type { ControlledEvaluateIndexOutput, ControlledEvaluateInputItem, Token } from 'node-llama-cpp';

export interface LogitsAsked {
  readonly sampling: Sampling;
  readonly hasGrammar: boolean;
  /** How often each token was given in the answer before. */
  readonly given: ReadonlyMap<number, number>;
  /** Alternatives that are told beside the token. */
  readonly topLogprobs?: number;
  /** Looked at too, wherever they stand. */
  readonly also?: readonly number[];
  /** All tokens, however unlikely. */
  readonly isWhole?: boolean;
}

export interface Logits {
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** Natural logarithm of the sum of all tokens' weights. */
  readonly logTotal: number;
}

export class LogitsReader {
  readonly vocabularySize: number;
  readonly #candidates: number;

  /** `candidates`: of the likeliest, so many are looked at. */
  constructor({ vocabularySize, candidates }: { readonly vocabularySize: number; readonly candidates: number }) {
    this.vocabularySize = vocabularySize;
    this.#candidates = candidates;
  }

  /** A token to be read, with what it leads to. The sum over all tokens costs a pass over them: only answers tell log-probabilities. */
  ask(token: number, asked: LogitsAsked, { hasTotal = true } = {}): ControlledEvaluateInputItem {
    const tokens = [...this.#moved(asked), ...(asked.also ?? [])].filter((each) => each < this.vocabularySize);
    const includeTop = asked.isWhole ? this.vocabularySize : this.#few(asked);
    return [
      token as Token,
      {
        generateNext: {
          logits: { filter: { includeTop, tokens: tokens as Token[] } },
          totalLogitWeight: hasTotal,
          options: { temperature: 1, topK: 0, topP: 1, minP: 0 },
        },
      },
    ];
  }

  /** Best first. */
  candidates(output: ControlledEvaluateIndexOutput | undefined): readonly Candidate[] {
    const logits = output?.next.logits;
    if (!logits) throw new Error('llama.cpp gave no logits');
    return Array.from(logits, ([token, logit]) => ({ token: token as number, logit })).sort(
      (a, b) => b.logit - a.logit || a.token - b.token,
    );
  }

  /** Of what was asked for with its total. */
  read(output: ControlledEvaluateIndexOutput | undefined): Logits {
    const candidates = this.candidates(output);
    const total = output?.next.totalLogitWeight;
    if (total === undefined) throw new Error('llama.cpp gave no total');
    // Weights are told relative to the largest logit.
    return { candidates, logTotal: (candidates[0]?.logit ?? 0) + Math.log(total) };
  }

  /** Of the candidates, those that a draw looks at; others were asked for beside them. */
  drawn(candidates: readonly Candidate[], asked: LogitsAsked): readonly Candidate[] {
    if (asked.isWhole) return candidates;
    const moved = new Set(this.#moved(asked));
    const few = this.#few(asked);
    return candidates.filter(({ token }, i) => i < few || moved.has(token));
  }

  /** What a penalty or a bias may raise is looked at wherever it stands; what they push down leaves the next one at the top. */
  #moved({ sampling, given }: LogitsAsked): readonly number[] {
    const { logitBias, presencePenalty, frequencyPenalty } = sampling;
    const isPenalised = presencePenalty !== 0 || frequencyPenalty !== 0;
    return [...logitBias.keys(), ...(isPenalised ? given.keys() : [])];
  }

  #few(asked: LogitsAsked): number {
    const isSimple = asked.sampling.temperature === 0 && !asked.hasGrammar;
    return isSimple ? Math.max(1 + this.#moved(asked).length, asked.topLogprobs ?? 0) : this.#candidates;
  }
}
