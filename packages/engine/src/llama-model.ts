// A model in llama.cpp, inside the engine's own process: loaded, asked for logits token by token, its slots shared among jobs.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Candidate, chooseToken } from '@strata/inference';
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
import { hasTools, renderChat } from './chat-template.ts';
import { commonPrefix } from './choose-slot.ts';
import { type ChatPrompt, EngineError, type Job, type JobEvent, type ModelInfo, type TokenChoice } from './engine.ts';
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
}

const DEFAULT_MOST_CONTEXT = 8_192;
/** Tokens of a prompt read at once: others have their turn in between. */
const PREFILL_TOKENS = 256;
/**
 * So many tokens before its end an answer that has a grammar is brought to a close: what is cut short is at least well-formed,
 * and still says that it was cut. Never more than half of an answer.
 */
const CLOSING_TOKENS = 32;
/** Sampling looks at so many of the likeliest; what lies beyond is too unlikely to be missed. */
const CANDIDATES = 1_024;

export class LlamaHost {
  readonly info: ModelInfo;
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #sequences: LlamaContextSequence[];
  readonly #slots: Slots;
  readonly #bytes: readonly Uint8Array[] | undefined;
  readonly #template: { readonly source: string; readonly controls: readonly string[] } | undefined;
  /** Tokens that end what a JSON text is in, and how much they are preferred: within a string a bracket ends nothing. */
  readonly #closers: ReadonlyMap<number, number>;
  #embedding: Promise<LlamaEmbeddingContext> | undefined;

  private constructor(parts: {
    info: ModelInfo;
    llama: Llama;
    model: LlamaModel;
    context: LlamaContext;
    vocabulary: Vocabulary;
    template: string | undefined;
  }) {
    this.info = parts.info;
    this.#llama = parts.llama;
    this.#model = parts.model;
    this.#context = parts.context;
    this.#sequences = Array.from({ length: parts.info.slots }, () => parts.context.getSequence());
    this.#slots = new Slots(parts.info.slots);
    this.#bytes = tokenBytes(parts.vocabulary);
    this.#closers = new Map(
      Object.entries({ '"': 3_000, ']': 2_000, '}': 2_000 }).flatMap(([text, bias]) => {
        const [token, ...more] = parts.model.tokenize(text);
        return token === undefined || more.length > 0 ? [] : [[token as number, bias] as const];
      }),
    );
    this.#template =
      parts.template === undefined ? undefined : { source: parts.template, controls: controlTexts(parts.vocabulary) };
  }

  /** Throws EngineError `model-unusable`. */
  static async load({ file, slots, contextLength, threads, gpu }: LlamaOptions): Promise<LlamaHost> {
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
        info: {
          name: general.name ?? path.basename(file, '.gguf'),
          sha256: await sha256Of(file),
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
    const isTooWordy = tokens.length > this.#context.contextSize / 2 && prompt.tools.length > 0;
    // Tools in words would leave no room for an answer; a call that is asked for is held to by its grammar all the same.
    if (isTooWordy && !hasTools(this.#template.source)) return this.#rendered({ ...prompt, tools: [] }, this.#template);
    return tokens;
  }

  #rendered(prompt: ChatPrompt, template: { readonly source: string; readonly controls: readonly string[] }): number[] {
    const { bosString, eosString, bos } = this.#model.tokens;
    const pieces = renderChat(prompt, { ...template, bos: bosString ?? '', eos: eosString ?? '' });
    const tokens = pieces.flatMap(({ text, hasControl }) => this.tokenize(text, hasControl));
    if (this.#model.tokens.shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
    return tokens;
  }

  async embed(tokens: readonly number[]): Promise<Float32Array> {
    this.#embedding ??= this.#model.createEmbeddingContext({ threads: this.#context.currentThreads });
    const { vector } = await (await this.#embedding).getEmbeddingFor([...tokens] as Token[]);
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
      await this.#answer(job, { sequence, last, grammar, tell, signal });
    } finally {
      this.#slots.give(slot, sequence.contextTokens);
    }
  }

  async #answer(
    job: Job,
    parts: {
      sequence: LlamaContextSequence;
      last: number;
      grammar: GrammarState | undefined;
      tell: (event: JobEvent) => void;
      signal: AbortSignal;
    },
  ): Promise<void> {
    const { sequence, grammar, tell, signal } = parts;
    const times = new Map<number, number>();
    for (const token of job.given) {
      times.set(token, (times.get(token) ?? 0) + 1);
      grammar?.accept(token);
    }
    const closesAt = grammar ? job.maxTokens - Math.min(CLOSING_TOKENS, Math.floor(job.maxTokens / 2)) : job.maxTokens;
    const closing: Job = { ...job, sampling: { ...job.sampling, logitBias: this.#closers } };
    let { last } = parts;
    for (let position = job.given.length; ; position += 1) {
      signal.throwIfAborted();
      if (position >= job.maxTokens || sequence.nextTokenIndex >= this.#context.contextSize)
        return tell({ kind: 'end', reason: 'length' });
      const asked = position < closesAt ? job : closing;
      const { candidates, logTotal } = await this.#logits(sequence, last, { job: asked, distinct: times.size });
      const isAllowed = grammar ? (token: number) => grammar.allows(token) : () => true;
      const token = chooseToken(candidates, asked.sampling, { position, given: times, isAllowed });
      // A grammar that allows nothing more is complete.
      if (token === undefined || this.#model.isEogToken(token as Token))
        return tell({ kind: 'end', reason: position <= closesAt ? 'stop' : 'length' });
      const logit = candidates.find((each) => each.token === token)?.logit ?? Number.NEGATIVE_INFINITY;
      const chosen = this.#choice({ token, logit }, logTotal);
      const top = job.topLogprobs === undefined ? undefined : candidates.slice(0, job.topLogprobs);
      tell({ kind: 'token', ...chosen, ...(top ? { top: top.map((each) => this.#choice(each, logTotal)) } : {}) });
      times.set(token, (times.get(token) ?? 0) + 1);
      grammar?.accept(token);
      last = token;
    }
  }

  /** What the model makes of one more token: the likeliest candidates, best first, and the logarithm of all weights' sum. */
  async #logits(
    sequence: LlamaContextSequence,
    last: number,
    { job, distinct }: { readonly job: Job; readonly distinct: number },
  ): Promise<{ readonly candidates: readonly Candidate[]; readonly logTotal: number }> {
    const { temperature, logitBias, presencePenalty, frequencyPenalty } = job.sampling;
    const isSimple = temperature === 0 && !job.grammar;
    // Those that penalties may push down stand before the one that is left at the top.
    const penalised = presencePenalty !== 0 || frequencyPenalty !== 0 ? distinct : 0;
    const includeTop = isSimple ? Math.max(1 + penalised + logitBias.size, job.topLogprobs ?? 0) : CANDIDATES;
    const results = await sequence.controlledEvaluate([
      [
        last as Token,
        {
          generateNext: {
            logits: {
              filter: {
                includeTop,
                tokens: [...logitBias.keys()].filter((token) => token < this.info.vocabularySize) as Token[],
              },
            },
            totalLogitWeight: true,
            options: { temperature: 1, topK: 0, topP: 1, minP: 0 },
          },
        },
      ],
    ]);
    const next = results[0]?.next;
    if (!next?.logits || next.totalLogitWeight === undefined) throw new Error('llama.cpp gave no logits');
    const candidates = Array.from(next.logits, ([token, logit]) => ({ token: token as number, logit })).sort(
      (a, b) => b.logit - a.logit || a.token - b.token,
    );
    // Weights are told relative to the largest logit.
    return { candidates, logTotal: (candidates[0]?.logit ?? 0) + Math.log(next.totalLogitWeight) };
  }

  #choice({ token, logit }: Candidate, logTotal: number): TokenChoice {
    return { token, bytes: this.#bytesOf(token), logprob: Math.min(0, logit - logTotal) };
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
