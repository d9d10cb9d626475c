// A process for the next vocabulary, started before there is one: to start a process takes a second or more where the machine is
// busy, to load a vocabulary into it some dozens of milliseconds. Each process is still for one file alone.
import { EngineChild } from '../process/engine-child.ts';

const SILENCE_MS = 30_000;
/** A template that writes without end fills this much of memory before its time is over, and no more. */
const HEAP_FLAG = '--max-old-space-size=512';
/** The next one is started when the one that was taken has loaded its file: they would slow each other down. */
const NEXT_MS = 1_000;

/** A process of a vocabulary, which is told its file when it is ready. */
export function startVocabularyChild(): EngineChild<void> {
  return new EngineChild<void>({
    entry: new URL('vocabulary-process.ts', import.meta.url),
    options: {},
    silenceMs: SILENCE_MS,
    execArgv: [HEAP_FLAG],
  });
}

export class VocabularySpare implements AsyncDisposable {
  readonly #nextMs: number;
  #child: EngineChild<void> | undefined = startVocabularyChild();
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `nextMs`: from when a process was taken to the start of the next one; 1,000 by default. */
  constructor({ nextMs = NEXT_MS }: { readonly nextMs?: number } = {}) {
    this.#nextMs = nextMs;
  }

  /** The process, for whoever asks first; undefined where there is none just now. */
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
    // It has nothing to bring to an end, and hears of nothing before it runs.
    this.#child?.kill('not needed');
    await this.#child?.exited;
  }
}
