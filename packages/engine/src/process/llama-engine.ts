// llama.cpp as an engine: a separate process, called by messages, and restarted when it dies.
import {
  type ChatPrompt,
  type Engine,
  EngineError,
  type Job,
  type JobEvent,
  type ModelInfo,
  type ModelMarks,
  type ScoreJob,
} from '../engine.ts';
import type { LlamaOptions } from '../llama/llama-model.ts';
import { ACK_TOKENS } from '../read-ahead.ts';
import { EngineChild } from './engine-child.ts';
import { EnginePool } from './engine-pool.ts';
import type { Call } from './process-messages.ts';

export type { LlamaOptions } from '../llama/llama-model.ts';

export interface RestartEvent {
  readonly kind: 'died' | 'ready';
  readonly detail: string;
  /** It was killed because the grammar of an answer did not terminate. */
  readonly isByGrammar?: boolean;
}

export interface LlamaEngineDeps {
  /** Milliseconds without a response after which the process is killed; 30,000 by default. */
  readonly silenceMs?: number;
  /** Called when the process died, and when its replacement is ready. */
  readonly onRestart?: (event: RestartEvent) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** Delay between a crash and the restart; doubled while the process dies before it is ready. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** Maximum wait of calls during a restart. */
const WAIT_MS = 10_000;
/** A process that does not answer pings for this long is killed: blocked native code cannot be interrupted. */
const SILENCE_MS = 30_000;

export interface LlamaEngineOptions extends LlamaOptions {
  /** Number of processes that share the slots, each with its own threads; 1 by default. */
  readonly processes?: number;
}

/**
 * Starts the engine; rejects with EngineError `model-unusable` when the model cannot be loaded, or with the signal's
 * reason.
 */
export async function startLlamaEngine(
  { processes = 1, ...options }: LlamaEngineOptions,
  deps: LlamaEngineDeps = {},
): Promise<Engine> {
  const slotsOf = (number: number) =>
    Math.floor(options.slots / processes) + (number < options.slots % processes ? 1 : 0);
  deps.signal?.throwIfAborted();
  await using stack = new AsyncDisposableStack();
  const start = async (number: number, more: Partial<LlamaOptions> = {}) => {
    const engine = stack.use(new LlamaEngine({ ...options, slots: slotsOf(number), ...more }, deps));
    const stop = () => void engine[Symbol.asyncDispose]();
    deps.signal?.addEventListener('abort', stop, { once: true });
    // An abort kills the process, which rejects the waiters.
    await engine.started().finally(() => {
      deps.signal?.removeEventListener('abort', stop);
      deps.signal?.throwIfAborted();
    });
    return engine;
  };
  const first = await start(0);
  // The digest of the file is computed only once.
  const { sha256 } = first.info;
  const more = await Promise.all(Array.from({ length: processes - 1 }, (_, i) => start(i + 1, { sha256 })));
  stack.move();
  return more.length === 0 ? first : new EnginePool([first, ...more]);
}

class LlamaEngine implements Engine {
  readonly #options: LlamaOptions;
  readonly #onRestart: NonNullable<LlamaEngineDeps['onRestart']>;
  readonly #silenceMs: number;
  #child: EngineChild<ModelInfo>;
  #ready: Promise<ModelInfo>;
  #info: ModelInfo | undefined;
  #isStopped = false;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;
  #giveUp: () => void = () => {};

  constructor(options: LlamaOptions, { onRestart = () => {}, silenceMs = SILENCE_MS }: LlamaEngineDeps) {
    this.#options = options;
    this.#silenceMs = silenceMs;
    this.#onRestart = onRestart;
    this.#child = this.#start();
    this.#ready = this.#child.ready;
  }

  get info(): ModelInfo {
    if (!this.#info) throw new EngineError('crashed', 'the engine has not started');
    return this.#info;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** For tests and logs. */
  get process(): { readonly pid: number | undefined } {
    return { pid: this.#child.pid };
  }

  async started(): Promise<void> {
    try {
      await this.#ready;
    } catch (error) {
      this.#isStopped = true;
      throw error;
    }
  }

  async tokenize(text: string, { hasControl = false } = {}): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'tokenize', text, hasControl })) as number[];
  }

  async detokenize(tokens: readonly number[]): Promise<string> {
    return (await this.#ask({ kind: 'detokenize', tokens })) as string;
  }

  async render(prompt: ChatPrompt): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'render', prompt })) as number[];
  }

  async marks(): Promise<ModelMarks> {
    return (await this.#ask({ kind: 'marks' })) as ModelMarks;
  }

  async embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    return (await this.#ask({ kind: 'embed', tokens }, signal)) as Float32Array;
  }

  async score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'score', job }, signal)) as number[];
  }

  async *generate(job: Job, signal: AbortSignal): AsyncIterable<JobEvent> {
    const child = await this.#running(signal);
    const queue: JobEvent[] = [];
    let wake = () => {};
    const stopping = new AbortController();
    const { id, value } = child.call(
      { kind: 'generate', job },
      {
        signal: AbortSignal.any([signal, stopping.signal]),
        onEvents: (events) => {
          queue.push(...events);
          wake();
        },
      },
    );
    let isOver = false;
    const over = value.then(
      () => {},
      (error: unknown) => error as Error,
    );
    void over.then(() => {
      isOver = true;
      wake();
    });
    let taken = 0;
    try {
      for (;;) {
        while (queue.length > 0) {
          const event = queue.shift() as JobEvent;
          yield event;
          if (event.kind === 'end') return;
          // Acknowledged after consumption: a reader that stops reading soon receives no more.
          if (event.kind === 'token' && ++taken % ACK_TOKENS === 0) child.send({ kind: 'taken', id, tokens: taken });
        }
        if (isOver) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      throw (await over) ?? new EngineError('crashed', 'the engine ended an answer without a reason');
    } finally {
      // A consumer that stops iterating stops the job.
      stopping.abort();
    }
  }

  async #ask(call: Call, signal?: AbortSignal): Promise<unknown> {
    const child = await this.#running(signal);
    return child.call(call, { signal }).value;
  }

  /** Waits for a restarting process, but not long: another worker may be able to answer. */
  async #running(signal: AbortSignal | undefined): Promise<EngineChild<ModelInfo>> {
    signal?.throwIfAborted();
    if (this.#isStopped) throw new EngineError('crashed', 'the engine was stopped');
    if (this.#isReady) return this.#child;
    const late = AbortSignal.timeout(WAIT_MS);
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => reject(signal?.aborted ? (signal.reason as Error) : starting());
    late.addEventListener('abort', leave, { once: true });
    signal?.addEventListener('abort', leave, { once: true });
    const ready = this.#ready.catch(() => Promise.reject(starting()));
    await Promise.race([ready, left]).finally(() => signal?.removeEventListener('abort', leave));
    signal?.throwIfAborted();
    return this.#child;
  }

  #start(): EngineChild<ModelInfo> {
    const child = new EngineChild<ModelInfo>({
      entry: new URL('llama-process.ts', import.meta.url),
      options: this.#options,
      silenceMs: this.#silenceMs,
      isCpuOnly: this.#options.gpu === false,
    });
    this.#child = child;
    child.ready.then(
      (info) => {
        this.#isReady = true;
        this.#info = info;
        void child.exited.then((detail) => {
          this.#isReady = false;
          if (!this.#isStopped) this.#restart(detail, RESTART_MS);
        });
      },
      // A process that dies before it is ready is restarted by `#restart`.
      () => {},
    );
    return child;
  }

  #restart(detail: string, afterMs: number): void {
    this.#onRestart({ kind: 'died', detail, isByGrammar: this.#child.wasEndedByGrammar });
    // It may have been stopped for that.
    if (this.#isStopped) return;
    const { promise, resolve, reject } = Promise.withResolvers<ModelInfo>();
    this.#ready = promise;
    this.#timer = setTimeout(() => this.#start().ready.then(resolve, reject), afterMs);
    this.#giveUp = () => reject(new EngineError('crashed', 'the engine was stopped'));
    this.#ready.then(
      () => this.#onRestart({ kind: 'ready', detail: `process ${this.#child.pid}` }),
      (error: unknown) => {
        if (this.#isStopped) return;
        this.#restart(String(error), Math.min(afterMs * 2, MAX_RESTART_MS));
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#giveUp();
    await this.#child[Symbol.asyncDispose]();
  }
}

const starting = () => new EngineError('crashed', 'the engine is restarting');
