// A model of this machine by its file or reference: downloaded where it is not here yet, laid out over cores, and loaded.
import { stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { type Arrangement, arrange } from './arrangement.ts';
import { type Engine, EngineError } from './engine.ts';
import type { ModelSettings } from './model-settings.ts';
import { ModelStoreError } from './model-store/error.ts';
import { resolveModel } from './model-store/resolve-model.ts';
import { startLlamaEngine } from './process/llama-engine.ts';

export interface OpenModelOptions extends ModelSettings {
  /** GGUF file or `hf:` reference. */
  readonly model: string;
  /** Ends a download or a load; what came of a file stays, and the next start goes on from there. */
  readonly signal?: AbortSignal | undefined;
}

type Log = (facts: Readonly<Record<string, unknown>>, message: string) => void;

/** Where a service hears of it: how a download comes along, and engines that die. */
export interface ModelLog {
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
}

export interface OpenedModel {
  /** Its file's name without ending. */
  readonly id: string;
  readonly file: string;
  readonly engine: Engine;
}

/** A download tells how far it is this often. */
const TELL_MS = 10_000;

/** Rejects with EngineError or ModelStoreError, or with the signal's reason. */
export async function openModel(options: OpenModelOptions, log: ModelLog): Promise<OpenedModel> {
  const file = await fileOf(options, log);
  const startedAt = performance.now();
  const { slots, gpu, contextLength, signal } = options;
  const { processes, threads } = await arrangementOf(file, options);
  const engine = await startLlamaEngine(
    { file, slots, processes, threads, gpu, ...(contextLength === undefined ? {} : { contextLength }) },
    {
      signal,
      onRestart: ({ kind, detail }) => {
        if (kind === 'died') log.error({ detail }, 'the engine died and is started again');
        else log.info({ detail }, 'the engine serves again');
      },
    },
  );
  const id = path.basename(file, '.gguf').replace(/-00001-of-\d{5}$/, '');
  const { sha256, contextLength: tokens, slots: places } = engine.info;
  const ms = Math.round(performance.now() - startedAt);
  log.info({ model: id, sha256, contextLength: tokens, slots: places, processes, threads, ms }, 'model loaded');
  return { id, file, engine };
}

async function fileOf({ model, modelStore, signal }: OpenModelOptions, log: ModelLog): Promise<string> {
  if (!/^hf:/.test(model)) return model;
  let toldAt = Number.NEGATIVE_INFINITY;
  log.info({ model, directory: modelStore.dir }, 'looking for the model');
  return resolveModel(
    model,
    { ...modelStore, signal },
    {
      onProgress: ({ file, receivedBytes, totalBytes }) => {
        if (performance.now() - toldAt < TELL_MS) return;
        toldAt = performance.now();
        log.info({ file, receivedBytes, totalBytes }, 'downloading the model');
      },
      onRetry: ({ reason, pauseMs }) =>
        log.warn({ reason, pauseMs: Math.round(pauseMs) }, 'the download is tried again'),
    },
  ).then(({ path: found }) => found, toldOf(model));
}

async function arrangementOf(file: string, { slots, gpu, processes, threads }: OpenModelOptions): Promise<Arrangement> {
  // A file that is not there is told by the engine.
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new EngineError('model-unusable', `${file} is a folder, and no GGUF file`);
  const sizeBytes = found?.size ?? 0;
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
