// Vocabularies of the network's models: each a process that is started when it is asked, and ended when nobody has asked for a while.
import { EngineError, type OpenedVocabulary, type Vocabulary, type VocabularyFacts } from '@strata/engine';

/** A vocabulary that is opened when it is asked. */
export interface LazyVocabulary extends Vocabulary {
  /** What the file says of itself. */
  facts(): Promise<VocabularyFacts>;
}
export type OpenVocabulary = (file: string) => Promise<OpenedVocabulary>;

export interface VocabulariesOptions {
  /** Opened at the same time; one more only while all of them are at work. 16 by default. */
  readonly max?: number;
  /** Ended after so long without work. 300,000 by default. */
  readonly idleMs?: number;
}

interface Opened {
  readonly vocabulary: Promise<OpenedVocabulary>;
  /** Nobody gets it any more; it ends with the last call. */
  isRetired: boolean;
  inUse: number;
  usedAtMs: number;
}

export class Vocabularies implements AsyncDisposable {
  readonly #open: OpenVocabulary;
  readonly #max: number;
  readonly #idleMs: number;
  /** By digest; whoever was used last stands at the end. */
  readonly #opened = new Map<string, Opened>();
  readonly #closing = new Set<Promise<unknown>>();
  readonly #sweep: NodeJS.Timeout;
  #isClosed = false;

  constructor(open: OpenVocabulary, { max = 16, idleMs = 300_000 }: VocabulariesOptions = {}) {
    this.#open = open;
    this.#max = max;
    this.#idleMs = idleMs;
    this.#sweep = setInterval(
      () => this.#closeIdle(performance.now() - this.#idleMs),
      Math.min(10_000, idleMs),
    ).unref();
  }

  /** Processes that run. */
  get size(): number {
    return this.#opened.size;
  }

  /** The vocabulary with this digest; `file` is asked for each time that it is opened. */
  of(sha256: string, file: () => Promise<string>): LazyVocabulary {
    const using = <T>(work: (vocabulary: OpenedVocabulary) => Promise<T>) => this.#using(sha256, file, work);
    return {
      tokenize: (text, options) => using((vocabulary) => vocabulary.tokenize(text, options)),
      detokenize: (tokens) => using((vocabulary) => vocabulary.detokenize(tokens)),
      render: (prompt) => using((vocabulary) => vocabulary.render(prompt)),
      facts: () => using(async ({ facts }) => facts),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    for (const sha256 of [...this.#opened.keys()]) this.#close(sha256);
    await Promise.allSettled(this.#closing);
  }

  async #using<T>(
    sha256: string,
    file: () => Promise<string>,
    work: (vocabulary: OpenedVocabulary) => Promise<T>,
  ): Promise<T> {
    // Nobody would end what is opened from now on.
    if (this.#isClosed) throw new EngineError('crashed', 'the vocabularies were closed');
    const opened = this.#opened.get(sha256) ?? {
      vocabulary: file().then(this.#open),
      isRetired: false,
      inUse: 0,
      usedAtMs: performance.now(),
    };
    this.#opened.delete(sha256);
    this.#opened.set(sha256, opened);
    opened.inUse += 1;
    this.#makeRoom();
    try {
      return await work(await opened.vocabulary);
    } catch (error) {
      // The next one who asks begins anew; a template that cannot take a conversation is no reason to.
      const isUsable = error instanceof EngineError && error.code === 'template-failed';
      if (!isUsable && this.#opened.get(sha256) === opened) {
        this.#opened.delete(sha256);
        opened.isRetired = true;
      }
      throw error;
    } finally {
      opened.inUse -= 1;
      opened.usedAtMs = performance.now();
      if (opened.isRetired && opened.inUse === 0) this.#end(opened);
      this.#makeRoom();
    }
  }

  #makeRoom(): void {
    for (const [sha256, { inUse }] of this.#opened) {
      if (this.#opened.size <= this.#max) return;
      if (inUse === 0) this.#close(sha256);
    }
  }

  #closeIdle(sinceMs: number): void {
    for (const [sha256, { inUse, usedAtMs }] of this.#opened)
      if (inUse === 0 && usedAtMs < sinceMs) this.#close(sha256);
  }

  #close(sha256: string): void {
    const opened = this.#opened.get(sha256);
    if (!opened) return;
    this.#opened.delete(sha256);
    this.#end(opened);
  }

  #end(opened: Opened): void {
    const closing = opened.vocabulary
      .then(
        (vocabulary) => vocabulary[Symbol.asyncDispose](),
        // It was never open: whoever asked has heard of it.
        () => {},
      )
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
