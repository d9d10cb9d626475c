// Opens the configured models: a local engine, upstream servers, the data of the stack service.
import { randomInt } from 'node:crypto';
import { type Engine, openModel, openUpstream, type Upstream } from '@strata/engine';
import { type ChatRequest, CompletionError, type CompletionRequest, type Generation } from '@strata/inference';
import type { Logger } from 'pino';
import type { GatewayConfig } from '../config.ts';
import { openAdmission } from '../limits/admission.ts';
import { type Backend, type BackendFacts, conversationLength, type EmbeddingPlan, type Plan } from './backend.ts';
import { DataBackend } from './data-backend.ts';
import { EngineBackend } from './engine-backend.ts';
import { DATA_MODEL, Models, type ServedModel } from './models.ts';

export interface OpenedModels extends AsyncDisposable {
  readonly models: Models;
}

/**
 * Rejects with EngineError or ModelStoreError, or with the signal's reason. `engines` are served as given, and not
 * disposed.
 */
export async function openModels(
  config: GatewayConfig,
  deps: {
    readonly logger: Logger;
    readonly now: () => Date;
    readonly engines: Readonly<Record<string, Engine>>;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<OpenedModels> {
  await using stack = new AsyncDisposableStack();
  const created = Math.floor(deps.now().getTime() / 1_000);
  const served: ServedModel[] = [];
  const serve = (id: string, backend: Backend) => {
    const admission = openAdmission({ slots: backend.facts.slots, queue: config.queue });
    served.push({ id, backend, created, admission });
  };
  for (const [id, engine] of Object.entries(deps.engines)) serve(id, new EngineBackend(engine));
  if (config.model !== undefined) {
    const { id, engine } = await openModel({ ...config, model: config.model, signal: deps.signal }, deps.logger);
    serve(id, new EngineBackend(stack.use(engine)));
  }
  if (config.upstream) {
    const { baseUrl, apiKey, models, slots, contextLength } = config.upstream;
    for (const model of models) {
      const upstream = stack.use(
        await openUpstream(
          {
            ...{ baseUrl, model, slots },
            ...(apiKey === undefined ? {} : { apiKey }),
            ...(contextLength === undefined ? {} : { contextLength }),
          },
          {
            signal: deps.signal,
            onRetry: ({ detail, waitMs }) =>
              deps.logger.warn({ model, detail, waitMs }, 'retrying the upstream request'),
          },
        ),
      );
      const { engine, origin } = upstream.info;
      serve(model, new UpstreamBackend(upstream));
      deps.logger.info({ model, engine, origin, slots }, 'upstream model is served');
    }
  }
  const { explorerUrl: baseUrl, explorerKey: key } = config;
  if (key !== undefined && baseUrl === undefined)
    deps.logger.warn('STRATA_EXPLORER_KEY has no effect without STRATA_EXPLORER_URL');
  else if (key !== undefined && baseUrl !== undefined) serve(DATA_MODEL, new DataBackend({ baseUrl, key }));
  const owned = stack.move();
  return { models: new Models(served), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Estimate for prompts whose token count is only known from the answer. */
const CHARACTERS_A_TOKEN = 4;

class UpstreamBackend implements Backend {
  readonly #upstream: Upstream;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  get facts(): BackendFacts {
    const { name, engine, contextLength, slots } = this.#upstream.info;
    return {
      ...{ name, engine, slots, contextLength: contextLength ?? null },
      ...{ sha256: null, parameters: null, quantisation: null, sizeBytes: null },
    };
  }

  /** Availability is only known from requests. */
  get isReady(): boolean {
    return true;
  }

  async planChat(request: ChatRequest): Promise<Plan> {
    const length =
      conversationLength(request.messages) + (request.tools.length > 0 ? JSON.stringify(request.tools).length : 0);
    const seed = seedOf(request);
    return {
      promptTokens: Math.ceil(length / CHARACTERS_A_TOKEN),
      choices: Array.from({ length: request.choices }, (_, i) => ({
        prompt: 0,
        deltas: (parts) => this.#upstream.chat(request, { ...parts, seed: (seed + i) >>> 0 }),
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
      choices: prompts.flatMap((text, prompt) =>
        Array.from({ length: request.choices }, (_, i) => ({
          prompt,
          deltas: (parts) => this.#upstream.complete(request, { ...parts, prompt: text, seed: (seed + i) >>> 0 }),
        })),
      ),
    };
  }

  async planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan> {
    const tokensOf = (input: string | readonly number[]) =>
      typeof input === 'string' ? Math.ceil(input.length / CHARACTERS_A_TOKEN) : input.length;
    return {
      promptTokens: inputs.reduce((sum, input) => sum + tokensOf(input), 0),
      embed: (signal) => this.#upstream.embed(inputs, signal),
    };
  }
}

const seedOf = ({ sampling }: Generation): number => sampling.seed ?? randomInt(2 ** 32);
