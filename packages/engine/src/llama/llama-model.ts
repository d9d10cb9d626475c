// A llama.cpp model inside the engine process: loads it, and shares its slots among jobs.
import { stat } from 'node:fs/promises';
import { formatSize, hashFile } from '@strata/files';
import {
  getLlama,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
} from 'node-llama-cpp';
import { ATTENTION, type AttentionOptions, attentionOf } from '../attention.ts';
import { EngineError, type Job, type JobEvent, type ModelInfo, type ScoreJob } from '../engine.ts';
import { GrammarWatchdog } from '../process/grammar-watchdog.ts';
import { AnswerLoop } from './answer-loop.ts';
import { closesAt } from './closing.ts';
import { Embedder } from './embedder.ts';
import { GrammarState } from './grammar-state.ts';
import { defaultContext, LlamaVocabulary } from './llama-vocabulary.ts';
import { LogitsReader } from './logits.ts';
import { modelInfo } from './model-info.ts';
import { PREFILL_TOKENS, readTokens } from './read-tokens.ts';
import { ScoreLoop } from './score-loop.ts';
import { Slots } from './slots.ts';

export interface LlamaOptions {
  readonly file: string;
  /** Answers generated concurrently. */
  readonly slots: number;
  /** Maximum tokens of prompt and answer; undefined: the model's training context, at most 8,192. */
  readonly contextLength?: number;
  /** More threads than cores spin and are slower by an order of magnitude. */
  readonly threads: number;
  readonly gpu: 'auto' | false;
  /**
   * Number of most likely tokens that sampling considers; the probability of the remaining ones is negligible. 1,024 by
   * default.
   */
  readonly candidates?: number;
  readonly attention?: AttentionOptions;
  /** Hex SHA-256 of the file, if already known. */
  readonly sha256?: string;
}

const CANDIDATES = 1_024;

export class LlamaHost {
  readonly info: ModelInfo;
  readonly vocabulary: LlamaVocabulary;
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #sequences: LlamaContextSequence[];
  readonly #slots: Slots;
  readonly #loop: AnswerLoop;
  readonly #scoring: ScoreLoop;
  readonly #watchdog: GrammarWatchdog;
  readonly #embedder: Embedder;

  private constructor(parts: {
    info: ModelInfo;
    llama: Llama;
    model: LlamaModel;
    context: LlamaContext;
    candidates: number;
    watch: GrammarWatchdog;
  }) {
    this.info = parts.info;
    this.#llama = parts.llama;
    this.#model = parts.model;
    this.#sequences = Array.from({ length: parts.info.slots }, () => parts.context.getSequence());
    this.#slots = new Slots(parts.info.slots);
    this.vocabulary = new LlamaVocabulary(parts.model, parts.context.contextSize);
    const logits = new LogitsReader({ vocabularySize: parts.info.vocabularySize, candidates: parts.candidates });
    this.#loop = new AnswerLoop({
      model: parts.model,
      contextSize: parts.context.contextSize,
      logits,
      bytesOf: (token) => this.vocabulary.bytesOf(token),
    });
    this.#scoring = new ScoreLoop(parts.model, logits);
    this.#watchdog = parts.watch;
    const { contextSize, currentThreads: threads } = parts.context;
    this.#embedder = new Embedder(parts.model, { contextSize, threads });
  }

  /** Throws EngineError `model-unusable`. */
  static async load({
    file,
    slots,
    contextLength,
    threads,
    gpu,
    candidates = CANDIDATES,
    attention = ATTENTION,
    sha256,
  }: LlamaOptions): Promise<LlamaHost> {
    try {
      const llama = await getLlama({
        gpu,
        build: 'never',
        skipDownload: true,
        logLevel: LlamaLogLevel.error,
        maxThreads: threads,
      });
      const model = await llama.loadModel({ modelPath: file });
      const context = await model.createContext({
        sequences: slots,
        contextSize: contextLength ?? defaultContext(model.trainContextSize),
        batchSize: PREFILL_TOKENS,
        threads,
        ...attentionOf(attention, llama.gpu !== false),
      });
      const known = { file, slots, contextLength: context.contextSize };
      const device = model.gpuLayers > 0 ? (await llama.getGpuDeviceNames()).join(', ') : undefined;
      return new LlamaHost({
        llama,
        model,
        context,
        candidates,
        watch: await GrammarWatchdog.start(),
        info: {
          ...(await modelInfo(model, { ...known, sha256: sha256 ?? (await hashFile(file)) })),
          ...(device === undefined ? {} : { gpu: { device, layers: model.gpuLayers } }),
        },
      });
    } catch (cause) {
      if (cause instanceof EngineError) throw cause;
      throw new EngineError('model-unusable', `the model ${file} cannot be loaded: ${await whyNot(file, cause)}`, {
        cause,
      });
    }
  }

  embed(tokens: readonly number[]): Promise<Float32Array> {
    return this.#embedder.embed(tokens);
  }

  /**
   * Runs one job to its end and emits its events; awaits `waitForCapacity` before each token. Rejects with the signal's
   * reason when aborted. `call` is the number of the call.
   */
  async run(
    job: Job,
    {
      call,
      emit,
      waitForCapacity,
      signal,
    }: {
      call: number;
      emit: (event: JobEvent) => void;
      waitForCapacity: () => Promise<void> | undefined;
      signal: AbortSignal;
    },
  ): Promise<void> {
    // The last token is read only if another one may follow.
    this.#requireCapacity(job.prompt, job.given.length - 1);
    // Before the first event: an unreadable grammar must not begin an answer.
    const grammar = await this.#grammarOf(job, call);
    if (job.given.length >= job.maxTokens) {
      emit({ kind: 'begin', cachedTokens: 0 });
      return emit({ kind: 'end', reason: 'length' });
    }
    // Near its limit an answer may have been closed, which only the draws show: this part is read token by token.
    const batched = job.replay === 'fast' ? job.given.slice(0, closesAt(job)) : [];
    const read = [...job.prompt, ...batched];
    const slot = await this.#slots.take(read, { signal, cacheKey: job.cacheKey });
    const sequence = this.#sequences[slot] as LlamaContextSequence;
    try {
      await readTokens(sequence, read, {
        onBegin: (cachedTokens) => emit({ kind: 'begin', cachedTokens }),
        signal,
      });
      await this.#loop.run(job, { sequence, read: batched.length, grammar, emit, waitForCapacity, signal });
    } finally {
      this.#slots.give(slot, sequence.contextTokens);
    }
  }

  /**
   * Margins of the answer's tokens and of its end. Rejects with EngineError, or with the signal's reason when aborted.
   */
  async score(
    job: ScoreJob,
    { call, signal }: { readonly call: number; readonly signal: AbortSignal },
  ): Promise<readonly number[]> {
    this.#requireCapacity(job.prompt, job.answer.length - (job.hasEnd ? 0 : 1));
    const grammar = await this.#grammarOf(job, call);
    const slot = await this.#slots.take(job.prompt, { signal });
    const sequence = this.#sequences[slot] as LlamaContextSequence;
    try {
      await readTokens(sequence, job.prompt, { signal });
      return await this.#scoring.run(job, { sequence, grammar, signal });
    } finally {
      // A checked answer is not continued: the next job without a cached prefix takes this slot.
      this.#slots.give(slot, sequence.contextTokens, { isSpent: true });
    }
  }

  async #grammarOf({ grammar }: { readonly grammar?: string }, call: number): Promise<GrammarState | undefined> {
    if (grammar === undefined) return undefined;
    return GrammarState.open(grammar, { llama: this.#llama, model: this.#model, watchdog: this.#watchdog, call });
  }

  #requireCapacity(prompt: readonly number[], more: number): void {
    if (prompt.length === 0) throw new EngineError('prompt-empty', 'the prompt is empty');
    // A longer prompt would silently lose its beginning. The last token of a full context is emitted but never read.
    if (prompt.length + Math.max(0, more) >= this.info.contextLength)
      throw new EngineError('job-too-long', `the job exceeds the context of ${this.info.contextLength} tokens`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#llama.dispose();
  }
}

/** llama.cpp reports only that loading failed, whatever the reason. */
async function whyNot(file: string, cause: unknown): Promise<string> {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (why === 'Failed to create context')
    return 'there is too little memory, or the model or device cannot have a cache of these types (kv-cache of STRATA_MODEL_OPTIONS)';
  if (why !== 'Failed to load model') return why;
  const { size } = await stat(file);
  return `the file is truncated (it has ${formatSize(size)}), damaged, or of a type that this llama.cpp does not support`;
}
