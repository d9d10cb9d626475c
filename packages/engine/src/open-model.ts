// Opens a local model by file or reference: downloads it if needed, arranges its processes, and loads it.
import { stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { type Engine, EngineError } from './engine.ts';
import type { ModelSettings } from './model-settings.ts';
import { ModelStoreError } from './model-store/error.ts';
import { resolveModel } from './model-store/resolve-model.ts';
import { type LlamaEngineOptions, startLlamaEngine } from './process/llama-engine.ts';

export interface OpenModelOptions extends Omit<ModelSettings, 'models' | 'modelMemoryBytes'> {
  /** GGUF file or `hf:` reference. */
  readonly model: string;
  /** Aborts a download or a load; the downloaded part of a file is kept, and the next start resumes it. */
  readonly signal?: AbortSignal | undefined;
}

type Log = (facts: Readonly<Record<string, unknown>>, message: string) => void;

/** Receives download progress and engine crashes. */
export interface ModelLog {
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
}

export interface OpenedModel {
  /** Its file's name without extension. */
  readonly id: string;
  readonly file: string;
  readonly engine: Engine;
}

/** Interval of progress messages during a download. */
const PROGRESS_LOG_MS = 10_000;

/** Rejects with EngineError or ModelStoreError, or with the signal's reason. */
export async function openModel(options: OpenModelOptions, log: ModelLog): Promise<OpenedModel> {
  const file = await fileOf(options, log);
  const engine = await loadEngine(await engineOptions(file, options), log, { signal: options.signal });
  return { id: idOf(file), file, engine };
}

export const idOf = (file: string): string => path.basename(file, '.gguf').replace(/-00001-of-\d{5}$/, '');

export type ArrangedOptions = LlamaEngineOptions & Arrangement;

/** Rejects with EngineError. */
export async function engineOptions(file: string, options: OpenModelOptions): Promise<ArrangedOptions> {
  const { slots, gpu, attention, contextLength } = options;
  const arrangement = await arrangementOf(file, options);
  return { file, slots, gpu, attention, ...arrangement, ...(contextLength === undefined ? {} : { contextLength }) };
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when a process of the loaded model has crashed, but not by the grammar of an answer. */
  readonly onDied?: (detail: string) => void;
}

/** Rejects with EngineError, or with the signal's reason. */
export async function loadEngine(
  options: ArrangedOptions,
  log: ModelLog,
  { signal, onDied }: LoadOptions,
): Promise<Engine> {
  const startedAt = performance.now();
  const engine = await startLlamaEngine(options, {
    signal,
    onRestart: ({ kind, detail, isByGrammar = false }) => {
      if (kind === 'ready') return log.info({ detail }, 'the engine is available again');
      log.error({ detail }, 'the engine process died and is being restarted');
      if (!isByGrammar) onDied?.(detail);
    },
  });
  const { sha256, contextLength, slots, engine: build, gpu } = engine.info;
  const { file, processes, threads } = options;
  const ms = Math.round(performance.now() - startedAt);
  log.info({ model: idOf(file), sha256, contextLength, slots, processes, threads, build, gpu, ms }, 'model loaded');
  if (options.gpu !== false && !gpu)
    log.warn({ model: idOf(file) }, 'no GPU is usable: the model runs on the processor');
  return engine;
}

/** Downloads the model of a reference. Rejects with ModelStoreError, or with the signal's reason. */
export async function fileOf({ model, modelStore, signal }: OpenModelOptions, log: ModelLog): Promise<string> {
  if (!/^hf:/.test(model)) return model;
  let loggedAt = Number.NEGATIVE_INFINITY;
  log.info({ model, directory: modelStore.dir }, 'resolving the model');
  return resolveModel(
    model,
    { ...modelStore, signal },
    {
      onProgress: ({ file, receivedBytes, totalBytes }) => {
        if (performance.now() - loggedAt < PROGRESS_LOG_MS) return;
        loggedAt = performance.now();
        log.info({ file, receivedBytes, totalBytes }, 'downloading the model');
      },
      onRetry: ({ reason, pauseMs }) => log.warn({ reason, pauseMs: Math.round(pauseMs) }, 'retrying the download'),
    },
  ).then(({ path: found }) => found, withReference(model));
}

async function arrangementOf(file: string, { slots, gpu, processes, threads }: OpenModelOptions): Promise<Arrangement> {
  // The engine reports a missing file.
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new EngineError('model-unusable', `${file} is a directory, not a GGUF file`);
  const sizeBytes = found?.size ?? 0;
  return arrange(
    { cores: availableParallelism(), memoryBytes: totalmem() },
    { slots, sizeBytes, hasGpu: gpu !== false },
    { ...(processes === undefined ? {} : { processes }), ...(threads === undefined ? {} : { threads }) },
  );
}

/** Adds the reference to the error message. */
function withReference(reference: string) {
  return (error: unknown): never => {
    if (error instanceof ModelStoreError)
      throw new ModelStoreError(error.code, `the model ${reference} is not available: ${error.message}`, {
        cause: error,
      });
    throw error;
  };
}

interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

interface Arrangement {
  readonly processes: number;
  readonly threads: number;
}

/**
 * Each process may hold weights of its own in addition to the file's shared pages: all of them together use at most
 * this share of the memory.
 */
const MAX_MEMORY = 0.25;

/**
 * Values that are not given are chosen: one process per core, up to the number of slots, because the loop of one
 * process feeds one answer nearly as fast as four; a single process on a GPU or for a large model. A process does not
 * get all cores as threads where this can be avoided: the threads spin against its own loop, at a third of the speed or
 * less.
 */
export function arrange(
  machine: Machine,
  model: { readonly slots: number; readonly sizeBytes: number; readonly hasGpu: boolean },
  given: Partial<Arrangement> = {},
): Arrangement {
  const { cores, memoryBytes } = machine;
  const max = Math.min(cores, model.slots);
  const isLarge = model.sizeBytes * max > memoryBytes * MAX_MEMORY;
  const processes = Math.min(given.processes ?? (model.hasGpu || isLarge ? 1 : max), model.slots);
  return { processes, threads: given.threads ?? Math.max(1, Math.floor((cores - 1) / processes)) };
}
