// Vectors of inputs, pooled as the model's metadata say. node-llama-cpp reads the vector of one sequence per decode, so
// inputs are decoded one after another; several processes decode concurrently.
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { EngineError } from '../engine.ts';
import { PREFILL_TOKENS } from './read-tokens.ts';

/** Values of `<architecture>.pooling_type` (llama.h: `llama_pooling_type`); without one, the last token's vector. */
const POOLING = { none: 0, last: 3, rank: 4 } as const;

export class Embedder {
  readonly #model: LlamaModel;
  readonly #options: { readonly contextSize: number; readonly threads: number };
  #context: Promise<LlamaEmbeddingContext> | undefined;

  /** The context is created with the first input: most models are never asked for vectors. */
  constructor(model: LlamaModel, options: { readonly contextSize: number; readonly threads: number }) {
    this.#model = model;
    this.#options = options;
  }

  /** A vector of length 1; of a reranker (pooling `rank`) its scores. Rejects with EngineError `job-too-long`. */
  async embed(tokens: readonly number[]): Promise<Float32Array> {
    const input = [...tokens] as Token[];
    const context = await this.#open();
    const { contextSize } = this.#options;
    // With the tokens that the model's vocabulary adds at the beginning and the end.
    if (context.calculateInputLength(input) >= contextSize)
      throw new EngineError('job-too-long', `the input exceeds the context of ${contextSize} tokens`);
    const { vector } = await context.getEmbeddingFor(input);
    if (poolingOf(this.#model) === POOLING.rank) return Float32Array.from(vector);
    const length = Math.hypot(...vector) || 1;
    return Float32Array.from(vector, (value) => value / length);
  }

  #open(): Promise<LlamaEmbeddingContext> {
    const { contextSize } = this.#options;
    this.#context ??= this.#model
      .createEmbeddingContext({
        ...this.#options,
        batchSize: vectorBatch(this.#model, contextSize),
      })
      .catch((error: unknown) => {
        this.#context = undefined;
        throw error;
      });
    return this.#context;
  }
}

const poolingOf = ({ fileInfo }: LlamaModel): number => fileInfo.architectureMetadata.pooling_type ?? POOLING.none;

/** Tokens that are decoded at once for a vector. */
export function vectorBatch(model: LlamaModel, contextSize: number): number {
  const isCausal = model.fileInfo.architectureMetadata.attention?.causal ?? true;
  const pooling = poolingOf(model);
  // Other pooling, and attention in both directions, need all tokens of an input in one batch, which has a buffer of this
  // size for each entry of the vocabulary.
  const needsLastOnly = pooling === POOLING.none || pooling === POOLING.last;
  return isCausal && needsLastOnly ? Math.min(PREFILL_TOKENS, contextSize) : contextSize;
}
