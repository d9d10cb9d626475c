// llama.cpp as an engine: a process of its own, asked by messages, started again when it dies.
import { type ChildProcess, fork } from 'node:child_process';
import {
  type ChatPrompt,
  type Engine,
  EngineError,
  type Job,
  type JobEvent,
  type ModelInfo,
  type ScoreJob,
} from './engine.ts';
import { EnginePool } from './engine-pool.ts';
import type { LlamaOptions } from './llama-model.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

export type { LlamaOptions } from './llama-model.ts';

export interface LlamaEngineParts {
  /** Milliseconds after which a silent process is ended; 30,000 by default. */
  readonly silenceMs?: number;
  /** Hears that the process died, and that another one serves. */
  readonly onRestart?: (event: { readonly kind: 'died' | 'ready'; readonly detail: string }) => void;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvents?: (events: readonly JobEvent[]) => void;
}

/** Between a death and the next start; doubled while it dies before it is ready. */
const RESTART_MS = 100;
const MOST_RESTART_MS = 30_000;
const STOP_MS = 5_000;
/** Of those who ask while it starts again. */
const WAIT_MS = 10_000;
/** A process that says nothing for so long, asked though it was, is ended: native code that runs on hears nothing. */
const SILENCE_MS = 30_000;
const PINGS = 4;
/** Characters kept of what it wrote last. */
const LAST_WORDS = 300;

export interface LlamaEngineOptions extends LlamaOptions {
  /** So many processes share the slots, each with its own threads; 1 by default. */
  readonly processes?: number;
}

/** Starts the engine; rejects with EngineError `model-unusable` when the model cannot be loaded. */
export async function startLlamaEngine(
  { processes = 1, ...options }: LlamaEngineOptions,
  parts: LlamaEngineParts = {},
): Promise<Engine> {
  const slotsOf = (number: number) =>
    Math.floor(options.slots / processes) + (number < options.slots % processes ? 1 : 0);
  await using stack = new AsyncDisposableStack();
  const start = async (number: number, more: Partial<LlamaOptions> = {}) => {
    const engine = stack.use(new LlamaEngine({ ...options, slots: slotsOf(number), ...more }, parts));
    await engine.started();
    return engine;
  };
  const first = await start(0);
  // The file is read for its digest only once.
  const { sha256 } = first.info;
  const others = await Promise.all(Array.from({ length: processes - 1 }, (_, i) => start(i + 1, { sha256 })));
  stack.move();
  return others.length === 0 ? first : new EnginePool([first, ...others]);
}

class LlamaEngine implements Engine {
  readonly #options: LlamaOptions;
  readonly #onRestart: NonNullable<LlamaEngineParts['onRestart']>;
  readonly #silenceMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #ready: Promise<ModelInfo>;
  #info: ModelInfo | undefined;
  #lastId = 0;
  #isStopped = false;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;
  #giveUp: () => void = () => {};

  constructor(options: LlamaOptions, { onRestart = () => {}, silenceMs = SILENCE_MS }: LlamaEngineParts) {
    this.#options = options;
    this.#silenceMs = silenceMs;
    this.#onRestart = onRestart;
    this.#ready = this.#start();
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
    return { pid: this.#child?.pid };
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

  async embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    return (await this.#ask({ kind: 'embed', tokens }, { signal })) as Float32Array;
  }

  async score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    return (await this.#ask({ kind: 'score', job }, { signal })) as number[];
  }

  async *generate(job: Job, signal: AbortSignal): AsyncIterable<JobEvent> {
    const queue: JobEvent[] = [];
    let wake = () => {};
    const stopping = new AbortController();
    const ended = this.#ask(
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
    const over = ended.then(
      () => {},
      (error: unknown) => error as Error,
    );
    void over.then(() => {
      isOver = true;
      wake();
    });
    try {
      for (;;) {
        while (queue.length > 0) {
          const event = queue.shift() as JobEvent;
          yield event;
          if (event.kind === 'end') return;
        }
        if (isOver) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      throw (await over) ?? new EngineError('crashed', 'the engine ended an answer without saying why');
    } finally {
      // Whoever stops listening stops the job too.
      stopping.abort();
    }
  }

  async #ask(
    call: Call,
    { signal, onEvents }: { signal?: AbortSignal; onEvents?: Waiting['onEvents'] } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isStopped) throw new EngineError('crashed', 'the engine was stopped');
    await this.#untilReady(signal);
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject, ...(onEvents ? { onEvents } : {}) });
    const abort = () => {
      this.#send({ kind: 'abort', id });
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.#send({ kind: 'call', id, call });
    } catch (cause) {
      reject(new EngineError('crashed', 'this cannot be given to the engine', { cause }));
    }
    return promise.finally(() => {
      signal?.removeEventListener('abort', abort);
      this.#waiting.delete(id);
    });
  }

  /** A process that starts again is waited for, but not long: others may be able to answer meanwhile. */
  async #untilReady(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isReady) return;
    const late = AbortSignal.timeout(WAIT_MS);
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => reject(signal?.aborted ? (signal.reason as Error) : starting());
    late.addEventListener('abort', leave, { once: true });
    signal?.addEventListener('abort', leave, { once: true });
    const ready = this.#ready.catch(() => Promise.reject(starting()));
    await Promise.race([ready, left]).finally(() => signal?.removeEventListener('abort', leave));
  }

  #send(message: ToEngine): void {
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  #start(): Promise<ModelInfo> {
    const { promise, resolve, reject } = Promise.withResolvers<ModelInfo>();
    // Nobody may be waiting for it just now.
    promise.catch(() => {});
    const child = fork(new URL('llama-process.ts', import.meta.url), [JSON.stringify(this.#options)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    });
    this.#child = child;
    let isReady = false;
    // llama.cpp repeats there what it was given: kept for the case that it dies, and told in short.
    let lastWords = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-LAST_WORDS);
    });
    // Counted in questions, not in time: where this process stands still itself, it asks nothing.
    let unanswered = 0;
    const watch = setInterval(() => {
      if (isReady && unanswered >= PINGS) {
        lastWords = `silent for ${this.#silenceMs} ms`;
        child.kill('SIGKILL');
      } else if (child.connected) {
        unanswered += 1;
        child.send({ kind: 'ping' } satisfies ToEngine, () => {});
      }
    }, this.#silenceMs / PINGS);
    watch.unref();
    child.on('message', (message: FromEngine) => {
      unanswered = 0;
      if (message.kind === 'pong') return;
      if (message.kind === 'ready') {
        isReady = true;
        this.#isReady = true;
        this.#info = message.info;
        resolve(message.info);
      } else if (message.kind === 'unusable') reject(new EngineError(message.code, message.message));
      else this.#hear(message);
    });
    child.on('error', (cause) => reject(new EngineError('crashed', 'the engine cannot be started', { cause })));
    child.once('exit', (code, signal) => {
      clearInterval(watch);
      this.#isReady = false;
      const detail = [signal ?? `exit code ${code}`, ...lastWords.trim().split('\n').slice(-1)]
        .filter(Boolean)
        .join(': ');
      const error = new EngineError('crashed', `the engine's process ended (${detail})`);
      reject(error);
      for (const waiting of this.#waiting.values()) waiting.reject(error);
      // One that dies before it is ready is started again by whoever waits for it.
      if (!this.#isStopped && isReady) this.#restart(detail, RESTART_MS);
    });
    return promise;
  }

  #restart(detail: string, afterMs: number): void {
    this.#onRestart({ kind: 'died', detail });
    const { promise, resolve, reject } = Promise.withResolvers<ModelInfo>();
    this.#ready = promise;
    this.#timer = setTimeout(() => this.#start().then(resolve, reject), afterMs);
    this.#giveUp = () => reject(new EngineError('crashed', 'the engine was stopped'));
    this.#ready.then(
      () => this.#onRestart({ kind: 'ready', detail: `process ${this.#child?.pid}` }),
      (error: unknown) => {
        if (this.#isStopped) return;
        this.#restart(String(error), Math.min(afterMs * 2, MOST_RESTART_MS));
      },
    );
  }

  #hear(message: Exclude<FromEngine, { kind: 'ready' | 'unusable' | 'pong' }>): void {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    if (message.kind === 'events') waiting.onEvents?.(message.events);
    else if (message.kind === 'value') waiting.resolve(message.value);
    else waiting.reject(new EngineError(message.code, message.message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#giveUp();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    if (child.connected) child.disconnect();
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(kill);
  }
}

const starting = () => new EngineError('crashed', 'the engine is being started again');
