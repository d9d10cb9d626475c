// A model in llama.cpp, inside the engine's own process: loaded, asked for logits token by token, its slots shared among jobs.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  GgufFileType,
  getLlama,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaEmbeddingContext,
  LlamaLogLevel,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import { AnswerLoop } from './answer-loop.ts';
import { hasTools, renderChat } from './chat-template.ts';
import { commonPrefix } from './choose-slot.ts';
import { type ChatPrompt, EngineError, type Job, type JobEvent, type ModelInfo, type ScoreJob } from './engine.ts';
import { GrammarState } from './grammar-state.ts';
import { Slots } from './slots.ts';
import { controlTexts, tokenBytes, type Vocabulary } from './token-bytes.ts';

export interface LlamaOptions {
  readonly file: string;
  /** Answers made side by side. */
  readonly slots: number;
  /** Tokens of prompt and answer; undefined: as many as the model was trained on, at most 8,192. */
  readonly contextLength?: number;
  /** More threads than cores spin, and are slower by an order of magnitude. */
  readonly threads: number;
  readonly gpu: 'auto' | false;
  /** Sampling looks at so many of the likeliest tokens; what lies beyond is too unlikely to be missed. 1,024 by default. */
  readonly candidates?: number;
  /** Hex SHA-256 of the file, where it is known already. */
  readonly sha256?: string;
}

const CANDIDATES = 1_024;
const DEFAULT_MOST_CONTEXT = 8_192;
/** Tokens of a prompt read at once: others have their turn in between. */
const PREFILL_TOKENS = 256;
export class LlamaHost {
  readonly info: ModelInfo;
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #sequences: LlamaContextSequence[];
  readonly #slots: Slots;
  readonly #bytes: readonly Uint8Array[] | undefined;
  readonly #template: { readonly source: string; readonly controls: readonly string[] } | undefined;
  readonly #loop: AnswerLoop;
  #embedding: Promise<LlamaEmbeddingContext> | undefined;

  private constructor(parts: {
    info: ModelInfo;
    llama: Llama;
    model: LlamaModel;
    context: LlamaContext;
    vocabulary: Vocabulary;
    template: string | undefined;
    candidates: number;
  }) {
    this.info = parts.info;
    this.#llama = parts.llama;
    this.#model = parts.model;
    this.#context = parts.context;
    this.#sequences = Array.from({ length: parts.info.slots }, () => parts.context.getSequence());
    this.#slots = new Slots(parts.info.slots);
    this.#bytes = tokenBytes(parts.vocabulary);
    this.#loop = new AnswerLoop({
      model: parts.model,
      contextSize: parts.context.contextSize,
      vocabularySize: parts.info.vocabularySize,
      candidates: parts.candidates,
      bytesOf: (token) => this.#bytesOf(token),
    });
    this.#template =
      parts.template === undefined ? undefined : { source: parts.template, controls: controlTexts(parts.vocabulary) };
  }

  /** Throws EngineError `model-unusable`. */
  static async load({
    file,
    slots,
    contextLength,
    threads,
    gpu,
    candidates = CANDIDATES,
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
      const trained = model.trainContextSize;
      const context = await model.createContext({
        sequences: slots,
        contextSize: contextLength ?? Math.min(trained, DEFAULT_MOST_CONTEXT),
        batchSize: PREFILL_TOKENS,
        threads,
        // Without it, a token comes out the same alone and in a batch: what a resumed answer rests on.
        flashAttention: false,
      });
      const { general, tokenizer } = model.fileInfo.metadata;
      const { size } = await stat(file);
      return new LlamaHost({
        llama,
        model,
        context,
        vocabulary: {
          model: tokenizer.ggml.model,
          tokens: tokenizer.ggml.tokens ?? [],
          types: tokenizer.ggml.token_type ?? [],
        },
        template: tokenizer.chat_template,
        candidates,
        info: {
          name: general.name ?? path.basename(file, '.gguf'),
          sha256: sha256 ?? (await sha256Of(file)),
          sizeBytes: size,
          architecture: general.architecture,
          parameters: parametersOf(model),
          quantisation: quantisationOf(model),
          contextLength: context.contextSize,
          vocabularySize: tokenizer.ggml.tokens?.length ?? 0,
          longestToken: (tokenizer.ggml.tokens ?? []).reduce(
            (most, text) => Math.max(most, Buffer.byteLength(text)),
            1,
          ),
          slots,
          hasChatTemplate: tokenizer.chat_template !== undefined,
          engine: `llama.cpp ${llama.llamaCppRelease.release}`,
        },
      });
    } catch (cause) {
      if (cause instanceof EngineError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('model-unusable', `the model ${file} cannot be loaded: ${why}`, { cause });
    }
  }

  tokenize(text: string, hasControl: boolean): number[] {
    return this.#model.tokenize(text, hasControl);
  }

  detokenize(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.#bytesOf(token))).toString('utf8');
  }

  render(prompt: ChatPrompt): number[] {
    if (!this.#template) throw new EngineError('template-failed', 'the model file has no chat template');
    const tokens = this.#rendered(prompt, this.#template);
    const most = this.#context.contextSize / 2;
    if (tokens.length <= most || prompt.tools.length === 0 || hasTools(this.#template.source)) return tokens;
    // Tools in words would leave no room for an answer; a call that is asked for is held to by its grammar all the same.
    const without = this.#rendered({ ...prompt, tools: [] }, this.#template);
    return tokens.length - without.length > most ? without : tokens;
  }

  #rendered(prompt: ChatPrompt, template: { readonly source: string; readonly controls: readonly string[] }): number[] {
    const { bosString, eosString, bos } = this.#model.tokens;
    const pieces = renderChat(prompt, { ...template, bos: bosString ?? '', eos: eosString ?? '' });
    const tokens = pieces.flatMap(({ text, hasControl }) => this.tokenize(text, hasControl));
    if (this.#model.tokens.shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
    return tokens;
  }

  async embed(tokens: readonly number[]): Promise<Float32Array> {
    this.#embedding ??= this.#model.createEmbeddingContext({
      threads: this.#context.currentThreads,
      contextSize: this.#context.contextSize,
    });
    const context = await this.#embedding.catch((error: unknown) => {
      this.#embedding = undefined;
      throw error;
    });
    const { vector } = await context.getEmbeddingFor([...tokens] as Token[]);
    const length = Math.hypot(...vector) || 1;
    return Float32Array.from(vector, (value) => value / length);
  }

  /** Runs one job to its end, telling what comes. Rejects with the signal's reason when it is aborted. */
  async run(job: Job, { tell, signal }: { tell: (event: JobEvent) => void; signal: AbortSignal }): Promise<void> {
    if (job.prompt.length === 0) throw new EngineError('prompt-empty', 'there is nothing to go on from');
    // Before anything is told: a grammar that cannot be read is no answer's beginning.
    const grammar =
      job.grammar === undefined ? undefined : await GrammarState.open(this.#llama, this.#model, job.grammar);
    const read = job.replay === 'fast' ? [...job.prompt, ...job.given] : [...job.prompt];
    const slot = await this.#slots.take(read, { signal, cacheKey: job.cacheKey });
    const sequence = this.#sequences[slot] as LlamaContextSequence;
    try {
      // One token at least is read anew: its logits are what the answer begins from.
      const common = Math.min(commonPrefix(sequence.contextTokens, read), read.length - 1);
      if (sequence.nextTokenIndex > common)
        await sequence.eraseContextTokenRanges([{ start: common, end: sequence.nextTokenIndex }]);
      tell({ kind: 'begin', cachedTokens: common });
      const replayed = job.replay === 'exact' ? job.given : [];
      for (let from = common; from < read.length - 1; from += PREFILL_TOKENS) {
        signal.throwIfAborted();
        await sequence.controlledEvaluate(
          read.slice(from, Math.min(from + PREFILL_TOKENS, read.length - 1)) as Token[],
        );
      }
      let last = read[read.length - 1] as number;
      for (const token of replayed) {
        signal.throwIfAborted();
        await sequence.controlledEvaluate([last as Token]);
        last = token;
      }
      await this.#loop.run(job, { sequence, last, grammar, tell, signal });
    } finally {
      this.#slots.give(slot, sequence.contextTokens);
    }
  }

  score(_job: ScoreJob, _signal: AbortSignal): Promise<number[]> {
    throw new EngineError('model-unusable', 'not yet');
  }

  #bytesOf(token: number): Uint8Array {
    return this.#bytes?.[token] ?? new TextEncoder().encode(this.#model.detokenize([token as Token]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#llama.dispose();
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function parametersOf(model: LlamaModel): number {
  const tensors = model.fileInfo.tensorInfo ?? [];
  return tensors.reduce(
    (sum, { dimensions }) => sum + dimensions.reduce<number>((all, each) => all * Number(each), 1),
    0,
  );
}

/** As the file says it: `Q4_K_M`. */
function quantisationOf(model: LlamaModel): string {
  const type = model.fileInfo.metadata.general.file_type;
  return type === undefined ? 'unknown' : (GgufFileType[type] ?? 'unknown').replace(/^(MOSTLY|ALL)_/, '');
}
