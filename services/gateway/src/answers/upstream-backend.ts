// Backend for an upstream server: forwards the conversation unchanged and relays its deltas.
import { randomInt } from 'node:crypto';
import type { Upstream } from '@strata/engine';
import { type ChatRequest, CompletionError, type CompletionRequest, type Generation } from '@strata/inference';
import {
  answerTokens,
  type Backend,
  type BackendFacts,
  conversationLength,
  type EmbeddingPlan,
  type Plan,
} from './backend.ts';

/** Estimate for prompts whose token count is only known from the answer. */
const CHARACTERS_A_TOKEN = 4;

export const CLAIMED = { level: 'claimed', reason: 'an upstream server names its model itself' } as const;

export class UpstreamBackend implements Backend {
  readonly verified = CLAIMED;
  readonly isLoaded = null;
  readonly facts: BackendFacts;
  readonly #upstream: Upstream;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    const { name, engine, contextLength, slots } = upstream.info;
    this.facts = {
      ...{ name, engine, slots, contextLength: contextLength ?? null },
      ...{ sha256: null, parameters: null, quantisation: null, sizeBytes: null },
    };
  }

  /** Availability is only known from requests. */
  get isReady(): boolean {
    return true;
  }

  async planChat(request: ChatRequest): Promise<Plan> {
    const seed = seedOf(request);
    const promptTokens = estimatedTokens(request);
    return {
      promptTokens,
      answerTokens: answerTokens(request),
      choices: Array.from({ length: request.choices }, (_, i) => ({
        prompt: 0,
        deltas: ({ usage, signal, stored }) => {
          const isGathered = !request.isStreamed && stored === undefined;
          // Of an answer that the client abandons, the prompt counts.
          if (isGathered) usage.promptTokens = promptTokens;
          return this.#upstream.chat(request, { usage, signal, isGathered, seed: (seed + i) >>> 0 });
        },
      })),
    };
  }

  async planText(request: CompletionRequest): Promise<Plan> {
    const seed = seedOf(request);
    const prompts = request.prompts.map((prompt, at) => {
      if (typeof prompt === 'string') return prompt;
      const param = request.prompts.length === 1 ? 'prompt' : `prompt[${at}]`;
      throw new CompletionError('unsupported_value', 'This model only accepts text prompts.', { param });
    });
    if (request.isEchoed)
      throw new CompletionError('unsupported_value', 'This model does not support `echo`.', { param: 'echo' });
    return {
      promptTokens: Math.ceil(prompts.reduce((sum, { length }) => sum + length, 0) / CHARACTERS_A_TOKEN),
      answerTokens: answerTokens(request, { prompts: prompts.length }),
      choices: prompts.flatMap((text, prompt) =>
        Array.from({ length: request.choices }, (_, i) => ({
          prompt,
          deltas: (parts) => this.#upstream.complete(request, { ...parts, prompt: text, seed: (seed + i) >>> 0 }),
        })),
      ),
    };
  }

  async planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan> {
    return {
      promptTokens: inputs.reduce((sum, input) => sum + estimatedTokens(input), 0),
      parts: [
        async (usage, signal) => {
          const { vectors, promptTokens } = await this.#upstream.embed(inputs, signal);
          usage.promptTokens += promptTokens;
          return vectors;
        },
      ],
    };
  }
}

/** Of a conversation with its tools, or of a text. */
export function estimatedTokens(input: ChatRequest | string | readonly number[]): number {
  if (typeof input === 'string') return Math.ceil(input.length / CHARACTERS_A_TOKEN);
  if (!('messages' in input)) return input.length;
  const { messages, tools } = input;
  const length = conversationLength(messages) + (tools.length > 0 ? JSON.stringify(tools).length : 0);
  return Math.ceil(length / CHARACTERS_A_TOKEN);
}

const seedOf = ({ sampling }: Generation): number => sampling.seed ?? randomInt(2 ** 32);
