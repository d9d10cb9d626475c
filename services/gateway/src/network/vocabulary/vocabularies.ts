// The open vocabularies of network models: each is a process that starts on demand, and ends after a period without
// use.
import {
  EngineError,
  type OpenedVocabulary,
  type TokenBytes,
  type Vocabulary,
  type VocabularyFacts,
} from '@strata/engine';

/** A vocabulary that is opened on first use. The bytes of a token are kept: each is asked for once. */
export interface LazyVocabulary extends Vocabulary, TokenBytes {
  /** The facts in the file. */
  facts(): Promise<VocabularyFacts>;
}
export type OpenVocabulary = (file: string) => Promise<OpenedVocabulary>;

export interface VocabulariesOptions {
  /** Maximum number of open vocabularies; exceeded only while all of them are in use. 16 by default. */
  readonly max?: number;
  /** Closed after this time without use. 300,000 by default. */
  readonly idleMs?: number;
}

interface Opened {
  readonly vocabulary: Promise<OpenedVocabulary>;
  /** Not handed out any more; closed after the last call. */
  isRetired: boolean;
  inUse: number;
  usedAtMs: number;
}

export class Vocabularies implements AsyncDisposable {
  readonly #open: OpenVocabulary;
  readonly #max: number;
  readonly #idleMs: number;
  /** By digest, least recently used first. */
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

  /** The number of running processes. */
  get size(): number {
    return this.#opened.size;
  }

  /** The vocabulary with this digest; `file` is called each time it is opened. */
  of(sha256: string, file: () => Promise<string>): LazyVocabulary {
    const using = <T>(work: (vocabulary: OpenedVocabulary) => Promise<T>) => this.#using(sha256, file, work);
    const known: Uint8Array[] = [];
    return {
      async bytes(tokens) {
        const missing = [...new Set(tokens)].filter((token) => !known[token]);
        if (missing.length > 0)
          for (const [i, each] of (await using((vocabulary) => vocabulary.bytes(missing))).entries())
            known[missing[i] as number] = each;
        return tokens.map((token) => known[token] as Uint8Array);
      },
      tokenize: (text, options) => using((vocabulary) => vocabulary.tokenize(text, options)),
      detokenize: (tokens) => using((vocabulary) => vocabulary.detokenize(tokens)),
      render: (prompt) => using((vocabulary) => vocabulary.render(prompt)),
      marks: () => using((vocabulary) => vocabulary.marks()),
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
    // After closing, new processes would never be stopped.
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
    this.#evict();
    try {
      return await work(await opened.vocabulary);
    } catch (error) {
      // The next call opens it again. A template that rejects a conversation is not a reason to.
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
      this.#evict();
    }
  }

  #evict(): void {
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
        // It was never open; the caller has received the error.
        () => {},
      )
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
