// A spare process for the next vocabulary, started in advance: starting a process takes a second or more on a busy
// machine, loading a vocabulary takes some tens of milliseconds. Each process serves a single file.
import { EngineChild } from '../process/engine-child.ts';

const SILENCE_MS = 30_000;
/** Limits the memory of a template that produces output without end until its time limit. */
const HEAP_FLAG = '--max-old-space-size=512';
/** The next process starts after the previous one has loaded its file: concurrent starts would slow each other down. */
const NEXT_MS = 1_000;

/** A vocabulary process; it receives its file once it is ready. */
export function startVocabularyChild(): EngineChild<void> {
  return new EngineChild<void>({
    entry: new URL('vocabulary-process.ts', import.meta.url),
    options: {},
    silenceMs: SILENCE_MS,
    execArgv: [HEAP_FLAG],
    isCpuOnly: true,
  });
}

export class VocabularySpare implements AsyncDisposable {
  readonly #nextMs: number;
  #child: EngineChild<void> | undefined = startVocabularyChild();
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `nextMs`: delay between taking a process and starting the next one; 1,000 by default. */
  constructor({ nextMs = NEXT_MS }: { readonly nextMs?: number } = {}) {
    this.#nextMs = nextMs;
  }

  /** The spare process; undefined if not ready. */
  take(): EngineChild<void> | undefined {
    const child = this.#child;
    this.#child = undefined;
    if (!this.#isClosed)
      this.#next ??= setTimeout(() => {
        this.#next = undefined;
        this.#child ??= startVocabularyChild();
      }, this.#nextMs).unref();
    return child?.isOver ? undefined : child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#next);
    // It holds no state and reads no messages before it is ready.
    this.#child?.kill('not needed');
    await this.#child?.exited;
  }
}
