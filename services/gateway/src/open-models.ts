// The models of the configuration, loaded or reached: an engine of this machine, another server, or both.
import { stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import {
  type Arrangement,
  arrange,
  type Engine,
  ModelStoreError,
  openUpstream,
  resolveModel,
  startLlamaEngine,
} from '@strata/engine';
import type { Logger } from 'pino';
import { Admission } from './admission.ts';
import type { Backend } from './backend.ts';
import type { GatewayConfig } from './config.ts';
import { EngineBackend } from './engine-backend.ts';
import { Models, type ServedModel } from './models.ts';
import { UpstreamBackend } from './upstream-backend.ts';

/** A download tells how far it is this often. */
const TELL_MS = 10_000;

export interface OpenedModels extends AsyncDisposable {
  readonly models: Models;
}

/** Rejects with EngineError or ModelStoreError. `engines`: served as they are, and not disposed. */
export async function openModels(
  config: GatewayConfig,
  parts: { readonly logger: Logger; readonly now: () => Date; readonly engines: Readonly<Record<string, Engine>> },
): Promise<OpenedModels> {
  await using stack = new AsyncDisposableStack();
  const created = Math.floor(parts.now().getTime() / 1_000);
  const served: ServedModel[] = [];
  const serve = (id: string, backend: Backend) => {
    const admission = new Admission({ places: backend.facts.slots, queue: config.queue });
    served.push({ id, backend, created, admission });
  };
  for (const [id, engine] of Object.entries(parts.engines)) serve(id, new EngineBackend(engine));
  if (config.model !== undefined) {
    const { id, engine } = await openEngine(config.model, config, parts.logger);
    serve(id, new EngineBackend(stack.use(engine)));
  }
  if (config.upstream) {
    const { baseUrl, apiKey, models, places, contextLength } = config.upstream;
    for (const model of models) {
      const upstream = stack.use(
        await openUpstream(
          {
            ...{ baseUrl, model, places },
            ...(apiKey === undefined ? {} : { apiKey }),
            ...(contextLength === undefined ? {} : { contextLength }),
          },
          {
            onRetry: ({ detail, waitMs }) =>
              parts.logger.warn({ model, detail, waitMs }, 'the upstream is asked again'),
          },
        ),
      );
      const { engine, origin } = upstream.info;
      serve(model, new UpstreamBackend(upstream));
      parts.logger.info({ model, engine, origin, places }, 'upstream serves');
    }
  }
  const owned = stack.move();
  return { models: new Models(served), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openEngine(
  reference: string,
  config: GatewayConfig,
  logger: Logger,
): Promise<{ readonly id: string; readonly engine: Engine }> {
  let toldAt = Number.NEGATIVE_INFINITY;
  const isReference = /^hf:/.test(reference);
  if (isReference) logger.info({ model: reference, directory: config.modelStore.dir }, 'looking for the model');
  const file = isReference
    ? await resolveModel(reference, config.modelStore, {
        onProgress: ({ file: name, receivedBytes, totalBytes }) => {
          if (performance.now() - toldAt < TELL_MS) return;
          toldAt = performance.now();
          logger.info({ file: name, receivedBytes, totalBytes }, 'downloading the model');
        },
        onRetry: ({ reason, pauseMs }) =>
          logger.warn({ reason, pauseMs: Math.round(pauseMs) }, 'the download is tried again'),
      }).then(({ path: found }) => found, toldOf(reference))
    : reference;
  const startedAt = performance.now();
  const { slots, gpu, contextLength } = config;
  const { processes, threads } = await arrangementOf(file, config);
  const engine = await startLlamaEngine(
    { file, slots, processes, threads, gpu, ...(contextLength === undefined ? {} : { contextLength }) },
    {
      onRestart: ({ kind, detail }) => {
        if (kind === 'died') logger.error({ detail }, 'the engine died and is started again');
        else logger.info({ detail }, 'the engine serves again');
      },
    },
  );
  const id = path.basename(file, '.gguf').replace(/-00001-of-\d{5}$/, '');
  const { sha256, contextLength: tokens, slots: places } = engine.info;
  const ms = Math.round(performance.now() - startedAt);
  logger.info({ model: id, sha256, contextLength: tokens, slots: places, processes, threads, ms }, 'model loaded');
  return { id, engine };
}

async function arrangementOf(file: string, { slots, gpu, processes, threads }: GatewayConfig): Promise<Arrangement> {
  // A file that is not there is told by the engine.
  const sizeBytes = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  return arrange(
    { cores: availableParallelism(), memoryBytes: totalmem() },
    { slots, sizeBytes, hasGpu: gpu !== false },
    { ...(processes === undefined ? {} : { processes }), ...(threads === undefined ? {} : { threads }) },
  );
}

/** Says which model it is that cannot be had. */
function toldOf(reference: string) {
  return (error: unknown): never => {
    if (error instanceof ModelStoreError)
      throw new ModelStoreError(error.code, `the model ${reference} cannot be had: ${error.message}`, { cause: error });
    throw error;
  };
}
