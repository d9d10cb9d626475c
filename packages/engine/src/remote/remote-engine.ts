// A model of another inference server as an engine: tokens in, tokens out, so that answers continue from given tokens.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Candidate, CompletionError, endMarginOf, marginOf, needsOf } from '@strata/inference';
import {
  type ChatPrompt,
  type Engine,
  EngineError,
  type Job,
  type JobEvent,
  type ModelInfo,
  type ScoreJob,
} from '../engine.ts';
import { failed } from '../upstream/errors.ts';
import type { UpstreamHttp } from '../upstream/http.ts';
import type { ModelVocabulary } from '../vocabulary/vocabulary-engine.ts';
import { AnswerStream, type AnswerStreamDeps } from './answer-stream.ts';
import type { Dialect, Position } from './dialect.ts';
import { embedTexts, inputOf } from './text-server.ts';

export interface RemoteEngineDeps extends Pick<AnswerStreamDeps, 'firstMs' | 'idleMs' | 'text'> {
  readonly http: UpstreamHttp;
  readonly dialect: Dialect;
  /** The model's name at the server. */
  readonly model: string;
  readonly info: ModelInfo;
  readonly vocabulary: ModelVocabulary;
  readonly ends: readonly number[];
  /** A token that is text. */
  readonly plain: number;
  /** Between checks of the server's health; rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** As many as engines in this process read; servers may report fewer. */
const CANDIDATES = 1_024;
/** At temperature 0 only the best one counts, and how far behind it the given one is. */
const GREEDY_CANDIDATES = 256;
/** Without requests, the server's health page is requested this often. */
const IDLE_MS = 5_000;
/** After a failure, until it answers. */
const HEALTH_MS = 1_000;
/** For an answer of the health page. */
const ANSWER_MS = 5_000;
/** While an answer does not begin and no other one gets tokens, the health page is requested this often. */
const SILENT_MS = 500;
/** For its answer then: a process that is being ended may keep its connections open for long. */
const SILENT_ANSWER_MS = 1_000;
const waitFor = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

/**
 * Its server may be slow, hostile or offline: whatever it sends is checked and bounded, and a failure is an EngineError
 * `upstream-failed`. It is not ready from a failed request, or two failed checks while idle, until the server's health
 * page is ok.
 */
export class RemoteEngine implements Engine {
  readonly info: ModelInfo;
  readonly #deps: RemoteEngineDeps;
  readonly #closing = new AbortController();
  #isReady = true;
  #running = 0;
  /** Events of all answers. */
  #received = 0;
  readonly #checking: Promise<void>;
  #watching: Promise<void> | undefined;

  constructor(deps: RemoteEngineDeps) {
    this.info = deps.info;
    this.#deps = deps;
    this.#checking = this.#check();
  }

  get isReady(): boolean {
    return this.#isReady && !this.#closing.signal.aborted;
  }

  get unavailable(): string | undefined {
    return this.isReady ? undefined : 'its server does not answer';
  }

  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]> {
    return this.#deps.vocabulary.tokenize(text, options);
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return this.#deps.vocabulary.detokenize(tokens);
  }

  render(prompt: ChatPrompt): Promise<readonly number[]> {
    return this.#deps.vocabulary.render(prompt);
  }

  marks() {
    return this.#deps.vocabulary.marks();
  }

  async *generate(job: Job, signal: AbortSignal): AsyncGenerator<JobEvent> {
    const lacking = needsOf(job).find((need) => this.info.lacks?.includes(need));
    if (lacking) throw new EngineError('unsupported', `the engine lacks ${lacking}`);
    const { info, ends, ...deps } = this.#deps;
    const { vocabularySize, contextLength } = info;
    const stream = { ...deps, vocabularySize, contextLength, ends: new Set(ends) };
    this.#running += 1;
    const [begun, lost] = [new AbortController(), new AbortController()];
    void this.#watchBeginning(begun.signal, lost);
    try {
      const until = AbortSignal.any([this.#until(signal), lost.signal]);
      for await (const event of new AnswerStream(stream, job, until).events()) {
        this.#received += 1;
        begun.abort();
        yield event;
      }
    } catch (error) {
      throw this.#failure(error, { signal, hasGrammar: job.grammar !== undefined });
    } finally {
      begun.abort();
      this.#running -= 1;
    }
  }

  /** Ends an answer that does not begin because its server hangs: another engine can give it. */
  async #watchBeginning(begun: AbortSignal, lost: AbortController): Promise<void> {
    const { dialect, wait = waitFor } = this.#deps;
    while (dialect.answersHealth && !begun.aborted) {
      const before = this.#received;
      await wait(SILENT_MS, begun).catch(() => {});
      if (begun.aborted || this.#received > before || (await this.#isHealthy(SILENT_ANSWER_MS))) continue;
      if (this.#received === before) lost.abort(failed('does not answer', undefined, 'timeout'));
      return;
    }
  }

  async score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    const { dialect, http, model, ends, plain } = this.#deps;
    if (!dialect.positions || job.grammar !== undefined)
      throw new EngineError('unsupported', 'the engine cannot score this answer');
    const { prompt, answer, hasEnd } = job;
    const [end] = ends;
    if (hasEnd && end === undefined) throw failed('serves a vocabulary without an end');
    const top = job.sampling.temperature === 0 ? GREEDY_CANDIDATES : CANDIDATES;
    const stop = this.#until(signal);
    const json = (ask: { readonly path: string; readonly body?: unknown }) => http.json({ ...ask, signal: stop });
    this.#running += 1;
    try {
      const positions = await dialect.positions({
        model,
        prompt,
        answer,
        end: hasEnd ? end : undefined,
        top,
        plain,
        json,
      });
      return marginsOf(job, positions, ends);
    } catch (error) {
      throw this.#failure(error, { signal, hasGrammar: false });
    } finally {
      this.#running -= 1;
    }
  }

  async embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    if (this.info.lacks?.includes('embeddings')) throw new EngineError('unsupported', 'the engine has no embeddings');
    const { http, model, vocabulary } = this.#deps;
    const input = await inputOf(tokens, vocabulary);
    this.#running += 1;
    try {
      const [vector] = await embedTexts(http, { model, inputs: [input], signal: this.#until(signal) });
      return vector ?? new Float32Array();
    } catch (error) {
      throw this.#failure(error, { signal, hasGrammar: false });
    } finally {
      this.#running -= 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EngineError('crashed', 'the engine was closed'));
    await this.#checking;
    await this.#watching;
    await this.#deps.http[Symbol.asyncDispose]();
    await this.#deps.vocabulary[Symbol.asyncDispose]();
  }

  #until(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal]);
  }

  #failure(
    error: unknown,
    { signal, hasGrammar }: { readonly signal: AbortSignal; readonly hasGrammar: boolean },
  ): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof CompletionError) {
      if (error.kind === 'context_length') return new EngineError('job-too-long', error.message, { cause: error });
      if (hasGrammar && error.kind === 'invalid_request')
        return new EngineError('grammar-unusable', error.message, { cause: error });
      return failed(`refused a request: ${error.message}`, error);
    }
    if (error instanceof EngineError && error.code === 'upstream-failed') void this.#watch();
    return error;
  }

  /** A server that is busy may answer late: its requests show whether it works. */
  async #check(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#pause(IDLE_MS);
      if (this.#running > 0 || (await this.#isHealthy())) continue;
      await this.#pause(HEALTH_MS);
      if (this.#running === 0 && !(await this.#isHealthy())) await this.#watch();
    }
  }

  /** Not ready until the server answers again. */
  #watch(): Promise<void> {
    this.#isReady = false;
    this.#watching ??= this.#recover().finally(() => {
      this.#watching = undefined;
    });
    return this.#watching;
  }

  async #recover(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isReady = await this.#isHealthy();
      if (this.#isReady) return;
      await this.#pause(HEALTH_MS);
    }
  }

  #isHealthy(limitMs = ANSWER_MS): Promise<boolean> {
    const { http, dialect } = this.#deps;
    return http.isHealthy(dialect.health, this.#until(AbortSignal.timeout(limitMs))).catch(() => false);
  }

  /** Shorter when the engine is closed. */
  async #pause(ms: number): Promise<void> {
    const { wait = waitFor } = this.#deps;
    const { signal } = this.#closing;
    if (!signal.aborted) await wait(ms, signal).catch(() => {});
  }
}

/** Margins in nats; differences of log-probabilities are those of logits. */
export function marginsOf(job: ScoreJob, positions: readonly Position[], ends: readonly number[]): readonly number[] {
  const { answer, hasEnd, sampling } = job;
  if (positions.length !== answer.length + (hasEnd ? 1 : 0)) throw failed('scored another number of tokens');
  const given = new Map<number, number>();
  return positions.map((position, index) => {
    const token = answer[index];
    const asked = { sampling, step: { position: index, given: new Map(given) } };
    const candidates = candidatesOf(position, token === undefined ? ends[0] : token);
    if (token === undefined) return endMarginOf(ends, candidates, asked);
    given.set(token, (given.get(token) ?? 0) + 1);
    return marginOf(token, candidates, asked);
  });
}

/** A token that the server left out counts as likely as the last candidate: its margin is a lower bound. */
function candidatesOf({ candidates, isRanked }: Position, token: number | undefined): readonly Candidate[] {
  const listed = candidates.map((each) => ({ token: each.token, logit: each.logprob }));
  const last = listed.at(-1);
  if (!last) throw failed('reports no log-probabilities of given tokens');
  if (token === undefined || listed.some((each) => each.token === token)) return listed;
  if (!isRanked) throw failed('left out a token that was to be scored');
  return [...listed, { token, logit: last.logit }];
}
