// Speed of an engine: measured before it serves, and updated by each answer.
import { GREEDY } from '@strata/inference';
import type { ChatPrompt, Engine, Job, JobContext, JobEvent, ModelInfo, ModelMarks, ScoreJob } from './engine.ts';

/** Tokens per second of one answer. */
export interface Speed {
  /** Of a prompt. */
  readonly prefill: number;
  /** Of an answer. */
  readonly decode: number;
}

export interface SpeedDeps {
  /** A monotonic clock, in milliseconds. */
  readonly nowMs?: () => number;
}

/** Time limit of a measurement; what is not finished by then is slow and reported as slow. */
const MEASURE_MS = 900;
/** Long enough to make the timer's resolution and the transport to the engine negligible. */
const ENOUGH_MS = 100;
const PROMPT_TOKENS = [32, 128, 512];
const ANSWER_TOKENS = [4, 16, 64];
/** Weight of each new answer in the moving average: about ten answers replace the old value. */
const WEIGHT = 0.2;
/** Shorter prompts and answers are too noisy. */
const MIN_PROMPT = 32;
const MIN_ANSWER = 8;
/** Answers whose reader used a larger share of the time measure the reader, not the engine. */
const MAX_READER_SHARE = 0.2;

/** Measures in less than about a second, on an otherwise idle engine. Rejects as the engine does. */
export async function measureSpeed(
  engine: Engine,
  { nowMs = () => performance.now() }: SpeedDeps = {},
): Promise<Speed> {
  const max = Math.floor(engine.info.contextLength / 2);
  // Given tokens are read one by one: they cost the same as generated ones, and never end early.
  const decode = ANSWER_TOKENS.map((count) => ({ prompt: 1, given: Math.min(count, max) }));
  const prefill = PROMPT_TOKENS.map((count) => ({ prompt: Math.min(count, max), given: 0 }));
  return {
    decode: await fastest(decode, { engine, nowMs }),
    prefill: await fastest(prefill, { engine, nowMs }),
  };
}

interface Sizes {
  readonly prompt: number;
  readonly given: number;
}

/** Tokens per second of the largest size that fits into the time limit. */
async function fastest(
  sizes: readonly Sizes[],
  { engine, nowMs }: Required<SpeedDeps> & { engine: Engine },
): Promise<number> {
  const limit = AbortSignal.timeout(MEASURE_MS / 2);
  const startedAt = nowMs();
  let found: number | undefined;
  for (const [i, { prompt, given }] of sizes.entries()) {
    // Different prefixes, so that nothing is cached.
    const tokens = (count: number, salt: number) =>
      Array.from({ length: count }, (_, at) => (at * 7 + salt * 31 + 1) % engine.info.vocabularySize);
    const job: Job = {
      prompt: tokens(prompt, i + sizes.length * given),
      given: tokens(given, i + 1),
      replay: 'exact',
      maxTokens: given + 1,
      sampling: GREEDY,
    };
    try {
      let begunAt = nowMs();
      for await (const event of engine.generate(job, limit)) {
        if (event.kind === 'begin') begunAt = nowMs();
        else break;
      }
      const ms = Math.max(nowMs() - begunAt, 0.01);
      found = ((prompt + given) / ms) * 1_000;
      if (ms >= ENOUGH_MS || limit.aborted) break;
    } catch (error) {
      if (!limit.aborted) throw error;
      // An upper bound: the work had not finished by now.
      found ??= ((prompt + given) / Math.max(nowMs() - startedAt, 1)) * 1_000;
      break;
    }
  }
  return found ?? 0;
}

/** An engine that reports its own speed: the initial measurement (0: none), updated by each answer. */
export class MeasuredEngine implements Engine {
  readonly #engine: Engine;
  readonly #nowMs: () => number;
  #speed: Speed;

  /** Takes ownership of the engine. */
  constructor(engine: Engine, speed: Speed, { nowMs = () => performance.now() }: SpeedDeps = {}) {
    this.#engine = engine;
    this.#speed = speed;
    this.#nowMs = nowMs;
  }

  get speed(): Speed {
    return this.#speed;
  }

  get info(): ModelInfo {
    return this.#engine.info;
  }

  get isReady(): boolean {
    return this.#engine.isReady;
  }

  get isLoaded(): boolean {
    return this.#engine.isLoaded ?? true;
  }

  get isLoading(): boolean {
    return this.#engine.isLoading ?? false;
  }

  get memoryBytes(): number | undefined {
    return this.#engine.memoryBytes;
  }

  get unavailable(): string | undefined {
    return this.#engine.unavailable;
  }

  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]> {
    return this.#engine.tokenize(text, options);
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return this.#engine.detokenize(tokens);
  }

  render(prompt: ChatPrompt): Promise<readonly number[]> {
    return this.#engine.render(prompt);
  }

  marks(): Promise<ModelMarks> {
    return this.#engine.marks();
  }

  score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    return this.#engine.score(job, signal);
  }

  embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    return this.#engine.embed(tokens, signal);
  }

  async *generate(job: Job, signal: AbortSignal, context?: JobContext): AsyncIterable<JobEvent> {
    let begunAt = 0;
    let firstAt = 0;
    let lastAt = 0;
    let readerMs = 0;
    let tokens = 0;
    let unread = 0;
    try {
      for await (const event of this.#engine.generate(job, signal, context)) {
        const at = this.#nowMs();
        if (event.kind === 'begin') {
          begunAt = at;
          unread = job.prompt.length - event.cachedTokens;
        } else if (event.kind === 'token') {
          if (tokens === 0) firstAt = at;
          lastAt = at;
          tokens += 1;
        }
        yield event;
        if (tokens > 0 && event.kind === 'token') readerMs += this.#nowMs() - at;
      }
    } finally {
      // Replayed tokens are neither a prompt read in batches nor emitted one by one.
      if (job.given.length === 0 && tokens > 0)
        this.#record('prefill', unread, { ms: firstAt - begunAt, min: MIN_PROMPT });
      const answerMs = lastAt - firstAt;
      if (readerMs <= answerMs * MAX_READER_SHARE)
        this.#record('decode', tokens - 1, { ms: answerMs, min: MIN_ANSWER });
    }
  }

  #record(kind: keyof Speed, tokens: number, { ms, min }: { readonly ms: number; readonly min: number }): void {
    if (tokens < min || ms <= 0) return;
    const measured = (tokens / ms) * 1_000;
    const before = this.#speed[kind] || measured;
    this.#speed = { ...this.#speed, [kind]: before * (1 - WEIGHT) + measured * WEIGHT };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
  }
}
