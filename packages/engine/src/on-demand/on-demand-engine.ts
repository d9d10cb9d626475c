// A model that is loaded at its first job, and may be closed between jobs.
import type {
  ChatPrompt,
  Engine,
  Job,
  JobContext,
  JobEvent,
  ModelInfo,
  ModelMarks,
  ScoreJob,
  Vocabulary,
} from '../engine.ts';
import { type OpenedVocabulary, openVocabulary } from '../vocabulary/vocabulary-engine.ts';
import type { SharedModel } from './resident.ts';

export interface OnDemandModel {
  readonly file: string;
  /** As the loaded model describes itself. */
  readonly info: ModelInfo;
}

/** The process of an unused vocabulary ends after this time. */
const VOCABULARY_IDLE_MS = 60_000;
const NEVER = new AbortController().signal;

export class OnDemandEngine implements Engine {
  readonly info: ModelInfo;
  readonly #file: string;
  readonly #model: SharedModel;
  /** Text of the model while it is not loaded: an unusable request loads nothing. */
  #vocabulary: Promise<OpenedVocabulary> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ file, info }: OnDemandModel, model: SharedModel) {
    this.info = info;
    this.#file = file;
    this.#model = model;
  }

  get isReady(): boolean {
    return this.#model.isReady;
  }

  get isLoaded(): boolean {
    return this.#model.isLoaded;
  }

  get isLoading(): boolean {
    return this.#model.isLoading;
  }

  get memoryBytes(): number {
    return this.#model.memoryBytes;
  }

  get unavailable(): string | undefined {
    return this.#model.unavailable;
  }

  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]> {
    return this.#read((vocabulary) => vocabulary.tokenize(text, options));
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return this.#read((vocabulary) => vocabulary.detokenize(tokens));
  }

  render(prompt: ChatPrompt): Promise<readonly number[]> {
    return this.#read((vocabulary) => vocabulary.render(prompt));
  }

  marks(): Promise<ModelMarks> {
    return this.#read((vocabulary) => vocabulary.marks());
  }

  async *generate(job: Job, signal: AbortSignal, context?: JobContext): AsyncIterable<JobEvent> {
    using lease = await this.#model.use(signal);
    yield* lease.engine.generate(job, signal, context);
  }

  async score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    using lease = await this.#model.use(signal);
    return await lease.engine.score(job, signal);
  }

  /** Can be aborted until the model is loaded: its process is not free before it has computed the vector. */
  async embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    using lease = await this.#model.use(signal, { vectors: true });
    return await lease.engine.embed(tokens, NEVER);
  }

  async #read<Result>(call: (vocabulary: Vocabulary) => Promise<Result>): Promise<Result> {
    using lease = this.#model.tryUse();
    if (lease) return await call(lease.engine);
    clearTimeout(this.#idleTimer);
    this.#vocabulary ??= this.#open();
    try {
      return await call(await this.#vocabulary);
    } finally {
      this.#closeVocabularyLater();
    }
  }

  #open(): Promise<OpenedVocabulary> {
    return openVocabulary(this.#file, { contextLength: this.info.contextLength }).catch((cause: unknown) => {
      this.#vocabulary = undefined;
      throw this.#model.failed(cause);
    });
  }

  #closeVocabularyLater(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#closeVocabulary(), VOCABULARY_IDLE_MS).unref();
  }

  async #closeVocabulary(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const vocabulary = this.#vocabulary;
    this.#vocabulary = undefined;
    await vocabulary?.then(
      (opened) => opened[Symbol.asyncDispose](),
      () => {},
    );
  }

  /** The loaded model belongs to the memory that it shares. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeVocabulary();
  }
}
