// Requests logits from llama.cpp for one position, and reads the candidates of a draw from its output.
import type { Candidate, Sampling } from '@strata/inference';
import type { ControlledEvaluateIndexOutput, ControlledEvaluateInputItem, Token } from 'node-llama-cpp';

export interface LogitsAsked {
  readonly sampling: Sampling;
  readonly hasGrammar: boolean;
  /** How often each token occurs in the answer so far. */
  readonly given: ReadonlyMap<number, number>;
  /** Alternatives reported with the token. */
  readonly topLogprobs?: number;
  /** Tokens to include whatever their rank. */
  readonly also?: readonly number[];
  /** Include all tokens, however unlikely. */
  readonly allTokens?: boolean;
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

  /** `candidates`: number of most likely tokens to read. */
  constructor({ vocabularySize, candidates }: { readonly vocabularySize: number; readonly candidates: number }) {
    this.vocabularySize = vocabularySize;
    this.#candidates = candidates;
  }

  /**
   * A token to read, with the logits that follow it. The total costs a pass over the vocabulary; only log-probabilities
   * need it.
   */
  ask(token: number, asked: LogitsAsked, { hasTotal = true } = {}): ControlledEvaluateInputItem {
    const tokens = [...this.#moved(asked), ...(asked.also ?? [])].filter((each) => each < this.vocabularySize);
    const includeTop = asked.allTokens ? this.vocabularySize : this.#few(asked);
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
    if (!logits) throw new Error('llama.cpp returned no logits');
    return Array.from(logits, ([token, logit]) => ({ token: token as number, logit })).sort(
      (a, b) => b.logit - a.logit || a.token - b.token,
    );
  }

  /** Reads the output of a request with `hasTotal`. */
  read(output: ControlledEvaluateIndexOutput | undefined): Logits {
    const candidates = this.candidates(output);
    const total = output?.next.totalLogitWeight;
    if (total === undefined) throw new Error('llama.cpp returned no total');
    // The weights are relative to the largest logit.
    return { candidates, logTotal: (candidates[0]?.logit ?? 0) + Math.log(total) };
  }

  /** The candidates that a draw considers, without the additional ones that `also` requested. */
  drawn(candidates: readonly Candidate[], asked: LogitsAsked): readonly Candidate[] {
    if (asked.allTokens) return candidates;
    const moved = new Set(this.#moved(asked));
    const few = this.#few(asked);
    return candidates.filter(({ token }, i) => i < few || moved.has(token));
  }

  /**
   * Tokens that a penalty or a bias may raise are included whatever their rank; lowered ones leave the next candidates
   * at the top.
   */
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
