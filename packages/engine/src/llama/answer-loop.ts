// Generates an answer token by token: reads logits, draws a token by the request's sampling and grammar, emits it, and
// feeds it back.
import { type Candidate, chooseToken, logProbability, type Sampling, type Step } from '@strata/inference';
import type { LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import type { Job, JobEvent, TokenChoice } from '../engine.ts';
import { type Closers, closersOf, closesAt, isClosable, isEndToken } from './closing.ts';
import type { GrammarState } from './grammar-state.ts';
import type { Logits, LogitsAsked, LogitsReader } from './logits.ts';
import { eraseFrom } from './read-tokens.ts';

interface AnswerLoopDeps {
  readonly model: LlamaModel;
  /** Maximum tokens of prompt and answer together; the last one is never read. */
  readonly contextSize: number;
  readonly logits: LogitsReader;
  readonly bytesOf: (token: number) => Uint8Array;
}

export class AnswerLoop {
  readonly #deps: AnswerLoopDeps;
  readonly #closers: Closers;

  constructor(deps: AnswerLoopDeps) {
    this.#deps = deps;
    this.#closers = closersOf(deps.model);
  }

  /**
   * Continues a job whose prompt and first `read` given tokens have been read, except the last of them. The other given
   * tokens are read one by one, as they were generated. Emits events; awaits `waitForCapacity` before each token.
   */
  async run(
    job: Job,
    deps: {
      sequence: LlamaContextSequence;
      read: number;
      grammar: GrammarState | undefined;
      emit: (event: JobEvent) => void;
      waitForCapacity: () => Promise<void> | undefined;
      signal: AbortSignal;
    },
  ): Promise<void> {
    const { sequence, grammar, emit, waitForCapacity, signal } = deps;
    const { model, contextSize } = this.#deps;
    const { given, maxTokens, topLogprobs } = job;
    const times = new Map<number, number>();
    const closing: Sampling = { ...job.sampling, logitBias: this.#closers.biases };
    const allowed = grammar ? { isAllowed: (token: number) => grammar.allows(token) } : {};
    let last = (deps.read > 0 ? given[deps.read - 1] : job.prompt.at(-1)) as number;
    let wasClosed = false;
    const take = (token: number) => {
      times.set(token, (times.get(token) ?? 0) + 1);
      grammar?.accept(token);
      last = token;
    };
    for (const token of given.slice(0, deps.read)) take(token);
    for (let position = deps.read; ; position += 1) {
      signal.throwIfAborted();
      const replayed = given[position];
      const isClosing = grammar !== undefined && position >= closesAt(job) && isClosable(grammar, this.#closers);
      if (replayed !== undefined && !isClosing) {
        await sequence.controlledEvaluate([last as Token]);
        take(replayed);
        continue;
      }
      if (replayed === undefined && (position >= maxTokens || sequence.nextTokenIndex >= contextSize - 1))
        return emit({ kind: 'end', reason: 'length' });
      await waitForCapacity();
      signal.throwIfAborted();
      const step = { position, given: times, ...allowed };
      const { drawn, candidates, logTotal } = await this.#draw(sequence, last, {
        sampling: isClosing ? closing : job.sampling,
        hasGrammar: grammar !== undefined,
        step,
        ...(topLogprobs === undefined ? {} : { topLogprobs }),
      });
      if (isClosing) wasClosed ||= drawn !== chooseToken(candidates, job.sampling, step);
      if (replayed !== undefined) {
        take(replayed);
        continue;
      }
      // A grammar that allows no further token is complete.
      if (drawn === undefined || isEndToken(model, drawn))
        return emit({ kind: 'end', reason: wasClosed ? 'length' : 'stop' });
      const logit = candidates.find(({ token }) => token === drawn)?.logit ?? Number.NEGATIVE_INFINITY;
      const top = topLogprobs === undefined ? undefined : candidates.slice(0, topLogprobs);
      emit({
        kind: 'token',
        ...this.#choice({ token: drawn, logit }, logTotal),
        ...(top ? { top: top.map((each) => this.#choice(each, logTotal)) } : {}),
      });
      take(drawn);
    }
  }

  /** Reads the last token and draws the next; undefined if the grammar allows none. */
  async #draw(
    sequence: LlamaContextSequence,
    last: number,
    { step, ...asking }: Omit<LogitsAsked, 'given'> & { readonly step: Step },
  ): Promise<Logits & { readonly drawn: number | undefined }> {
    const asked = { ...asking, given: step.given };
    const few = await this.#logits(sequence, last, asked);
    const drawn = chooseToken(few.candidates, asked.sampling, step);
    if (drawn !== undefined || few.candidates.length >= this.#deps.logits.vocabularySize) return { ...few, drawn };
    // The tokens allowed by the grammar may be very unlikely: read the last token again with all candidates.
    await eraseFrom(sequence, sequence.nextTokenIndex - 1);
    const all = await this.#logits(sequence, last, { ...asked, allTokens: true });
    return { ...all, drawn: chooseToken(all.candidates, asked.sampling, step) };
  }

  async #logits(sequence: LlamaContextSequence, last: number, asked: LogitsAsked): Promise<Logits> {
    const [output] = await sequence.controlledEvaluate([this.#deps.logits.ask(last, asked)]);
    return this.#deps.logits.read(output);
  }

  #choice({ token, logit }: Candidate, logTotal: number): TokenChoice {
    return { token, bytes: this.#deps.bytesOf(token), logprob: logProbability(logit, logTotal) };
  }
}
