// One engine process: started, called by messages, monitored, and stopped.
import { type ChildProcess, fork } from 'node:child_process';
import { EndlessGrammarError, EngineError, type JobEvent } from '../engine.ts';
import { GRAMMAR_MS, GRAMMAR_PIPE } from './grammar-watchdog.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onEvents?: ((events: readonly JobEvent[]) => void) | undefined;
}

interface EngineChildOptions {
  /** Module that the process runs. */
  readonly entry: URL;
  /** Passed to the process as its argument. */
  readonly options: object;
  /** Milliseconds without a response after which the process is killed. */
  readonly silenceMs: number;
  /** Node flags that limit its memory. */
  readonly execArgv?: readonly string[];
  /** It runs llama.cpp on the CPU only. */
  readonly isCpuOnly: boolean;
}

const withoutBinaryTest = new URL('without-binary-test.ts', import.meta.url).href;
const STOP_MS = 5_000;
const PINGS = 4;
/** Characters of its latest output that are kept. */
const OUTPUT_CHARS = 300;

export class EngineChild<Info> {
  /** Rejects with EngineError when the process cannot load, or dies before. */
  readonly ready: Promise<Info>;
  /** Why it ended, in short. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isReady = false;
  /** The call whose grammar made the watchdog kill the process. */
  #endless: number | undefined;
  // llama.cpp may print its input: kept for the case of a crash, and reported in short.
  #latestOutput = '';

  constructor({ entry, options, silenceMs, isCpuOnly, execArgv = [] }: EngineChildOptions) {
    const ready = Promise.withResolvers<Info>();
    const exited = Promise.withResolvers<string>();
    // There may be no waiter.
    ready.promise.catch(() => {});
    this.ready = ready.promise;
    this.exited = exited.promise;
    const child = fork(entry, [JSON.stringify(options)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
      execArgv: [...execArgv, ...(isCpuOnly ? ['--import', withoutBinaryTest] : [])],
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#latestOutput = (this.#latestOutput + text).slice(-OUTPUT_CHARS);
    });
    child.stdio[GRAMMAR_PIPE]?.on('data', (call: Buffer) => {
      this.#endless = Number(call);
      this.kill(`a grammar step took more than ${GRAMMAR_MS} ms`);
    });
    const watch = this.#watch(silenceMs);
    child.on('message', (message: FromEngine<Info>) => {
      watch.received();
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
      const error = new EngineError('crashed', `the engine process ended (${detail})`, { cause });
      // Before the waiters are rejected: an immediate retry must not reach the dead process.
      exited.resolve(detail);
      ready.reject(error);
      for (const [id, waiting] of this.#waiting)
        waiting.reject(id === this.#endless ? new EndlessGrammarError() : error);
    };
    child.on('error', (cause) => child.pid === undefined && end('it cannot be started', cause));
    child.once('exit', (code, signal) =>
      end(
        [signal ?? `exit code ${code}`, ...this.#latestOutput.trim().split('\n').slice(-1)].filter(Boolean).join(': '),
      ),
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get wasEndedByGrammar(): boolean {
    return this.#endless !== undefined;
  }

  get isOver(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /**
   * Sends a call; `id` identifies it in later messages. The value rejects with the signal's reason when aborted; throws
   * it if already aborted.
   */
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
    if (this.isOver) reject(new EngineError('crashed', 'the engine process has ended'));
    try {
      this.send({ kind: 'call', id, call });
    } catch (cause) {
      reject(new EngineError('crashed', 'the call cannot be sent to the engine', { cause }));
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

  /** Kills the process; waiters are rejected with the reason. */
  kill(why: string): void {
    this.#latestOutput = why;
    this.#child.kill('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isOver) return;
    // A process that is still loading holds no state, and reads no messages.
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
    // Counts pings, not time: while this process is blocked itself, it sends none.
    let unanswered = 0;
    let isReady = false;
    const timer = setInterval(() => {
      if (isReady && unanswered >= PINGS) this.kill(`no response for ${silenceMs} ms`);
      else {
        unanswered += 1;
        this.send({ kind: 'ping' });
      }
    }, silenceMs / PINGS);
    timer.unref();
    return {
      received: () => {
        unanswered = 0;
      },
      begin: () => {
        isReady = true;
      },
      end: () => clearInterval(timer),
    };
  }
}
