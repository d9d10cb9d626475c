// An answer that somebody says the model gave, checked: read in batches with the logits of every position, and each token
// compared with the draw that its position would have had.
import { type Candidate, chooseToken, endMarginOf, MOST_MARGIN_NATS, marginOf, type Sampling } from '@strata/inference';
import type { LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import { closersOf, closesAt } from './closing.ts';
import type { ScoreJob } from './engine.ts';
import type { GrammarState } from './grammar-state.ts';
import type { LogitsAsked, LogitsReader } from './logits.ts';
import { eraseFrom, PREFILL_TOKENS } from './read-tokens.ts';

/** Logits that llama.cpp holds for one batch: 64 MiB, so that positions times vocabulary stay bounded. */
const MOST_LOGITS = 16 * 1024 * 1024;
/** Positions after one whose every candidate the grammar forbids: others are likely to follow it, and are read again then. */
const FEW_POSITIONS = 8;

/** One position of the answer: what was read last, what is said to have come, and what its draw depended on. */
interface Position {
  readonly last: number;
  /** Undefined: the end. */
  readonly token: number | undefined;
  readonly index: number;
  readonly asked: LogitsAsked;
}

interface ScoreParts {
  readonly sequence: LlamaContextSequence;
  readonly grammar: GrammarState | undefined;
  readonly signal: AbortSignal;
}

export class ScoreLoop {
  readonly #model: LlamaModel;
  readonly #logits: LogitsReader;
  readonly #closers: ReadonlyMap<number, number>;
  readonly #mostPositions: number;
  #ends: readonly number[] | undefined;

  constructor(model: LlamaModel, logits: LogitsReader) {
    this.#model = model;
    this.#logits = logits;
    this.#closers = closersOf(model);
    this.#mostPositions = Math.max(1, Math.min(PREFILL_TOKENS, Math.floor(MOST_LOGITS / logits.vocabularySize)));
  }

  /** Margins in nats, of a job whose prompt was read up to, not including, its last token. */
  async run(job: ScoreJob, parts: ScoreParts): Promise<readonly number[]> {
    const { sequence, grammar, signal } = parts;
    const positions = this.#positions(job);
    const first = sequence.nextTokenIndex;
    const margins: number[] = [];
    let most = this.#mostPositions;
    while (margins.length < positions.length) {
      signal.throwIfAborted();
      const from = margins.length;
      await eraseFrom(sequence, first + from);
      const read = await this.#read(positions.slice(from, from + most), sequence);
      most = Math.min(most * 2, this.#mostPositions);
      for (const { position, candidates } of read) {
        const isWhole = position.asked.isWhole === true;
        const margin = this.#margin(position, candidates, grammar);
        if (margin === undefined && !isWhole) {
          // What the grammar allows may be among the least likely: from here on again, with all tokens at first.
          positions[position.index] = { ...position, asked: { ...position.asked, isWhole: true } };
          most = position.index === from ? 1 : FEW_POSITIONS;
          break;
        }
        margins.push(margin ?? MOST_MARGIN_NATS);
        if (position.token === undefined || !grammar) continue;
        // No answer under this grammar goes on like that.
        if (!grammar.allows(position.token)) return positions.map((_, i) => margins[i] ?? MOST_MARGIN_NATS);
        grammar.accept(position.token);
      }
    }
    return margins;
  }

  #positions(job: ScoreJob): Position[] {
    const { prompt, answer, hasEnd, sampling, grammar, maxTokens } = job;
    const closes = maxTokens === undefined || grammar === undefined ? undefined : closesAt({ grammar, maxTokens });
    const closing: Sampling = { ...sampling, logitBias: this.#closers };
    const given = new Map<number, number>();
    const lasts = [prompt.at(-1) as number, ...answer];
    return lasts.slice(0, answer.length + (hasEnd ? 1 : 0)).map((last, index) => {
      if (index > 0) given.set(last, (given.get(last) ?? 0) + 1);
      const token = answer[index];
      const asked = {
        sampling: closes !== undefined && index >= closes ? closing : sampling,
        hasGrammar: grammar !== undefined,
        given: new Map(given),
        also: token === undefined ? this.#endTokens() : [token],
      };
      return { last, token, index, asked };
    });
  }

  async #read(positions: readonly Position[], sequence: LlamaContextSequence) {
    const outputs = await sequence.controlledEvaluate(
      positions.map(({ last, asked }) => this.#logits.ask(last, asked)),
    );
    return positions.map((position, i) => ({ position, candidates: this.#logits.read(outputs[i]).candidates }));
  }

  /** Undefined where none of the candidates is allowed, and the sampler would have looked at more. */
  #margin(
    { token, index, asked }: Position,
    candidates: readonly Candidate[],
    grammar: GrammarState | undefined,
  ): number | undefined {
    const isAllowed = grammar ? (each: number) => grammar.allows(each) : () => true;
    const step = { position: index, given: asked.given, isAllowed };
    const draw = { sampling: asked.sampling, step };
    const isOpen = !grammar || chooseToken(this.#logits.drawn(candidates, asked), asked.sampling, step) !== undefined;
    if (!isOpen && !asked.isWhole) return undefined;
    if (token === undefined) return endMarginOf(this.#endTokens(), candidates, draw);
    // A token that ends an answer is never a part of it.
    if (this.#model.isEogToken(token as Token)) return MOST_MARGIN_NATS;
    return marginOf(token, candidates, draw);
  }

  #endTokens(): readonly number[] {
    this.#ends ??= Array.from({ length: this.#logits.vocabularySize }, (_, token) => token).filter((token) =>
      this.#model.isEogToken(token as Token),
    );
    return this.#ends;
  }
}
