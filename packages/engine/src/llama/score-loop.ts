// Checks an answer that is attributed to the model: reads it in batches with the logits of every position, and compares
// each token with the draw at its position.
import { type Candidate, chooseToken, endMarginOf, MAX_MARGIN_NATS, marginOf, type Sampling } from '@strata/inference';
import type { LlamaContextSequence, LlamaModel } from 'node-llama-cpp';
import type { ScoreJob } from '../engine.ts';
import { type Closers, closersOf, closesAt, isClosable, isEndToken } from './closing.ts';
import type { GrammarState } from './grammar-state.ts';
import type { LogitsAsked, LogitsReader } from './logits.ts';
import { eraseFrom, PREFILL_TOKENS } from './read-tokens.ts';

/** Logits of one batch in llama.cpp: 64 MiB, which bounds positions times vocabulary. */
const MAX_LOGITS = 16 * 1024 * 1024;
/**
 * Batch size after a position whose candidates the grammar all forbids: further such positions are likely and must be
 * read again.
 */
const FEW_POSITIONS = 8;

/** One position of the answer: the last token read, the claimed token, and the inputs of its draw. */
interface Position {
  readonly last: number;
  /** Undefined: the end. */
  readonly token: number | undefined;
  readonly index: number;
  readonly asked: LogitsAsked;
  /** The sampling of a position that may be a closing one, where its answer is not within JSON. */
  readonly open?: Sampling;
}

const NONE_GIVEN: ReadonlyMap<number, number> = new Map();

interface ScoreDeps {
  readonly sequence: LlamaContextSequence;
  readonly grammar: GrammarState | undefined;
  readonly signal: AbortSignal;
}

export class ScoreLoop {
  readonly #model: LlamaModel;
  readonly #logits: LogitsReader;
  readonly #closers: Closers;
  readonly #maxPositions: number;
  #ends: readonly number[] | undefined;

  constructor(model: LlamaModel, logits: LogitsReader) {
    this.#model = model;
    this.#logits = logits;
    this.#closers = closersOf(model);
    this.#maxPositions = Math.max(1, Math.min(PREFILL_TOKENS, Math.floor(MAX_LOGITS / logits.vocabularySize)));
  }

  /** Margins in nats for a job whose prompt was read, except its last token. */
  async run(job: ScoreJob, { sequence, grammar, signal }: ScoreDeps): Promise<readonly number[]> {
    const count = job.answer.length + (job.hasEnd ? 1 : 0);
    const first = sequence.nextTokenIndex;
    const margins: number[] = [];
    let max = this.#maxPositions;
    let allTokensAt: number | undefined;
    while (margins.length < count) {
      signal.throwIfAborted();
      const from = margins.length;
      await eraseFrom(sequence, first + from);
      const positions = this.#positions(job, { from, to: Math.min(from + max, count), allTokensAt });
      max = Math.min(max * 2, this.#maxPositions);
      for (const { position, candidates } of await this.#read(positions, sequence)) {
        const margin = this.#margin(position, candidates, grammar);
        if (margin === undefined) {
          // The tokens allowed by the grammar may be very unlikely: repeat from here, the first position with all
          // tokens.
          allTokensAt = position.index;
          max = FEW_POSITIONS;
          break;
        }
        margins.push(margin);
        if (position.token === undefined || !grammar) continue;
        // The grammar allows no such continuation.
        if (!grammar.allows(position.token))
          return Array.from({ length: count }, (_, i) => margins[i] ?? MAX_MARGIN_NATS);
        grammar.accept(position.token);
      }
    }
    return margins;
  }

  #positions(
    { prompt, answer, sampling, grammar, maxTokens }: ScoreJob,
    { from, to, allTokensAt }: { readonly from: number; readonly to: number; readonly allTokensAt: number | undefined },
  ): Position[] {
    const closes = maxTokens === undefined || grammar === undefined ? undefined : closesAt({ grammar, maxTokens });
    const closing: Sampling = { ...sampling, logitBias: this.#closers.biases };
    const isPenalised = sampling.presencePenalty !== 0 || sampling.frequencyPenalty !== 0;
    const given = new Map<number, number>();
    const give = (token: number) => given.set(token, (given.get(token) ?? 0) + 1);
    for (const token of answer.slice(0, from)) give(token);
    return Array.from({ length: to - from }, (_, i) => {
      const index = from + i;
      const last = (index === 0 ? prompt.at(-1) : answer[index - 1]) as number;
      if (i > 0) give(last);
      const token = answer[index];
      const isClosing = closes !== undefined && index >= closes;
      const asked = {
        sampling: isClosing ? closing : sampling,
        hasGrammar: grammar !== undefined,
        // Needed for penalties only.
        given: isPenalised ? new Map(given) : NONE_GIVEN,
        also: [...(token === undefined ? this.#endTokens() : [token]), ...(isClosing ? sampling.logitBias.keys() : [])],
        allTokens: index === allTokensAt,
      };
      return { last, token, index, asked, ...(isClosing ? { open: sampling } : {}) };
    });
  }

  async #read(positions: readonly Position[], sequence: LlamaContextSequence) {
    const outputs = await sequence.controlledEvaluate(
      positions.map(({ last, asked }) => this.#logits.ask(last, asked, { hasTotal: false })),
    );
    return positions.map((position, i) => ({ position, candidates: this.#logits.candidates(outputs[i]) }));
  }

  /** Undefined if no candidate is allowed although the sampler would have considered more. */
  #margin(
    { token, index, asked: all, open }: Position,
    candidates: readonly Candidate[],
    grammar: GrammarState | undefined,
  ): number | undefined {
    const isOpenText = open !== undefined && grammar !== undefined && !isClosable(grammar, this.#closers);
    const asked = isOpenText ? { ...all, sampling: open } : all;
    const isAllowed = grammar ? (each: number) => grammar.allows(each) : () => true;
    const step = { position: index, given: asked.given, isAllowed };
    const draw = { sampling: asked.sampling, step };
    const isOpen = !grammar || chooseToken(this.#logits.drawn(candidates, asked), asked.sampling, step) !== undefined;
    if (!isOpen && !asked.allTokens) return undefined;
    if (token === undefined) return endMarginOf(this.#endTokens(), candidates, draw);
    // An end token is never part of an answer.
    if (isEndToken(this.#model, token)) return MAX_MARGIN_NATS;
    return marginOf(token, candidates, draw);
  }

  #endTokens(): readonly number[] {
    this.#ends ??= Array.from({ length: this.#logits.vocabularySize }, (_, token) => token).filter((token) =>
      isEndToken(this.#model, token),
    );
    return this.#ends;
  }
}
