// One life of an engine's process: started, asked by messages, watched, ended.
import { type ChildProcess, fork } from 'node:child_process';
import { EndlessGrammarError, EngineError, type JobEvent } from '../engine.ts';
import { GRAMMAR_MS, GRAMMAR_PIPE } from './grammar-watchdog.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvents?: ((events: readonly JobEvent[]) => void) | undefined;
}

export interface EngineChildOptions {
  /** Module that the process runs. */
  readonly entry: URL;
  /** What it is told at its start. */
  readonly options: object;
  /** Milliseconds after which a silent process is ended. */
  readonly silenceMs: number;
  /** Bounds of its memory, as flags of node. */
  readonly execArgv?: readonly string[];
}

const STOP_MS = 5_000;
const PINGS = 4;
/** Characters kept of what it wrote last. */
const LAST_WORDS = 300;

export class EngineChild<Info> {
  /** Rejects with EngineError when it cannot load, or dies before. */
  readonly ready: Promise<Info>;
  /** Why it ended, in short. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isReady = false;
  // llama.cpp repeats there what it was given: kept for the case that it dies, and told in short.
  #lastWords = '';

  constructor({ entry, options, silenceMs, execArgv = [] }: EngineChildOptions) {
    const ready = Promise.withResolvers<Info>();
    const exited = Promise.withResolvers<string>();
    // Nobody may be waiting for it just now.
    ready.promise.catch(() => {});
    this.ready = ready.promise;
    this.exited = exited.promise;
    const child = fork(entry, [JSON.stringify(options)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
      execArgv: [...execArgv],
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
    });
    /** The call whose grammar it was that had to be ended. */
    let endless: number | undefined;
    child.stdio[GRAMMAR_PIPE]?.on('data', (call: Buffer) => {
      endless = Number(call);
      this.kill(`a grammar ran on for ${GRAMMAR_MS} ms`);
    });
    const watch = this.#watch(silenceMs);
    child.on('message', (message: FromEngine<Info>) => {
      watch.heard();
      if (message.kind === 'pong') return;
      if (message.kind === 'ready') {
        this.#isReady = true;
        watch.begin();
        ready.resolve(message.info);
      } else if (message.kind === 'unusable') ready.reject(new EngineError(message.code, message.message));
      else this.#hear(message);
    });
    const end = (detail: string, cause?: unknown) => {
      watch.end();
      const error = new EngineError('crashed', `the engine's process ended (${detail})`, { cause });
      // Before those who wait: who asks again at once must not be given to a dead one.
      exited.resolve(detail);
      ready.reject(error);
      for (const [id, waiting] of this.#waiting) waiting.reject(id === endless ? new EndlessGrammarError() : error);
    };
    child.on('error', (cause) => child.pid === undefined && end('it cannot be started', cause));
    child.once('exit', (code, signal) =>
      end([signal ?? `exit code ${code}`, ...this.#lastWords.trim().split('\n').slice(-1)].filter(Boolean).join(': ')),
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isOver(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Asks; `id` names the call in what is sent about it. The value rejects with the signal's reason when it is aborted; throws it where it was before. */
  call(
    call: Call,
    { signal, onEvents }: { readonly signal?: AbortSignal | undefined; readonly onEvents?: Waiting['onEvents'] } = {},
  ): { readonly id: number; readonly value: Promise<unknown> } {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject, onEvents });
    const abort = () => {
      this.send({ kind: 'abort', id });
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
    if (this.isOver) reject(new EngineError('crashed', "the engine's process has ended"));
    try {
      this.send({ kind: 'call', id, call });
    } catch (cause) {
      reject(new EngineError('crashed', 'this cannot be given to the engine', { cause }));
    }
    const value = promise.finally(() => {
      signal?.removeEventListener('abort', abort);
      this.#waiting.delete(id);
    });
    return { id, value };
  }

  send(message: ToEngine): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Ends it at once; who waits is told why. */
  kill(why: string): void {
    this.#lastWords = why;
    this.#child.kill('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isOver) return;
    // One that loads has nothing to end well, and hears nothing.
    if (!this.#isReady) this.#child.kill('SIGKILL');
    else if (this.#child.connected) this.#child.disconnect();
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await this.exited;
    clearTimeout(kill);
  }

  #hear(message: Exclude<FromEngine<Info>, { kind: 'ready' | 'unusable' | 'pong' }>): void {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    if (message.kind === 'events') waiting.onEvents?.(message.events);
    else if (message.kind === 'value') waiting.resolve(message.value);
    else waiting.reject(new EngineError(message.code, message.message));
  }

  #watch(silenceMs: number) {
    // Counted in questions, not in time: where this process stands still itself, it asks nothing.
    let unanswered = 0;
    let isReady = false;
    const timer = setInterval(() => {
      if (isReady && unanswered >= PINGS) this.kill(`silent for ${silenceMs} ms`);
      else {
        unanswered += 1;
        this.send({ kind: 'ping' });
      }
    }, silenceMs / PINGS);
    timer.unref();
    return {
      heard: () => {
        unanswered = 0;
      },
      begin: () => {
        isReady = true;
      },
      end: () => clearInterval(timer),
    };
  }
}
