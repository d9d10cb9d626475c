// The models that this worker contributes, and their descriptions in offers.
import path from 'node:path';
import {
  type Engine,
  EngineError,
  type FileTree,
  type Job,
  MeasuredEngine,
  measureSpeed,
  type OpenedModel,
  openFileTree,
  openModels,
  openRemoteModel,
  type RemoteServer,
  readVocabulary,
  type Speed,
  type VocabularyFile,
} from '@strata/engine';
import { StartError } from '@strata/http';
import { GREEDY, lacksOf, type OfferedModel } from '@strata/inference';
import type { Logger } from 'pino';
import type { WorkerConfig } from './config.ts';

export interface ContributedModel {
  readonly name: string;
  /** May be loaded on demand. */
  readonly engine: Engine;
  /** The vocabulary that gateways need to convert between text and tokens. */
  readonly vocabulary: VocabularyFile;
  /** Proves chunks of the file; undefined for an engine without a file. */
  readonly tree?: FileTree;
  /** The current speed, 0 if unknown; each offer reports it again. */
  readonly speed: Speed;
}

export interface ContributeDeps {
  readonly logger: Logger;
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal | undefined;
}

/** Of an offer. */
const MAX_MODELS = 64;
const MEASURE_MS = 10_000;
const MEASURED_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12);
const UNKNOWN_SPEED = { prefill: 0, decode: 0 };

/** Opens the models of the settings; the stack closes them. Rejects with StartError, or as `openModels` does. */
export async function contributeModels(config: WorkerConfig, { logger, stack, signal }: ContributeDeps) {
  if (config.models.length === 0)
    throw new StartError(
      config.engine
        ? 'the vocabulary of the engine is not known: specify a GGUF file of its model with --model, of any quantisation or from convert_hf_to_gguf.py --vocab-only'
        : 'no model to contribute: specify a GGUF file or hf:owner/repository with --model or STRATA_MODEL',
    );
  if (config.models.length > MAX_MODELS) throw new StartError(`a worker contributes at most ${MAX_MODELS} models`);
  if (config.models.length > 1 && config.name !== undefined)
    throw new StartError('STRATA_WORKER_NAME names one model, and STRATA_MODEL lists several');
  const { engine: server } = config;
  if (server) return { models: [await servedModel(server, config, { logger, stack, signal })], memory: undefined };
  const opened = stack.use(await openModels({ ...config, signal }, logger));
  const models: ContributedModel[] = [];
  for (const each of opened.models) models.push(await contributedModel(each, config));
  return { models, memory: opened.memory };
}

/** A model of another inference server; its vocabulary is that of the file. */
async function servedModel(
  server: RemoteServer,
  config: WorkerConfig,
  { logger, stack, signal }: ContributeDeps,
): Promise<ContributedModel> {
  const [model, second] = config.models;
  if (model === undefined || second !== undefined)
    throw new StartError('with --engine, --model names one GGUF file: it gives vocabulary and chat template');
  const { id, file, engine, isFileServed } = await openRemoteModel(server, { ...config, model, signal }, logger);
  const measured = stack.use(new MeasuredEngine(engine, UNKNOWN_SPEED));
  await measureAnswer(measured, signal);
  const vocabulary = await readVocabulary(file);
  return {
    ...{ name: config.name ?? id, engine: measured, vocabulary },
    ...(isFileServed ? { tree: await treeOf(file, engine, config) } : {}),
    get speed() {
      return measured.speed;
    },
  };
}

/** A server reads given tokens as a prompt, so only an answer shows how fast it makes tokens. */
async function measureAnswer(engine: Engine, signal: AbortSignal | undefined): Promise<void> {
  const { contextLength, hasChatTemplate, lacks } = engine.info;
  if (lacks?.includes('answers')) return;
  // Not every server takes tokens that are not those of a text, or a text without the token that it adds in front.
  const content = MEASURED_TEXT.slice(0, contextLength / 4);
  const prompt =
    hasChatTemplate && lacks?.includes('continuation')
      ? await engine.render({ messages: [{ role: 'user', content }], tools: [] })
      : await engine.tokenize(content);
  const limits = [AbortSignal.timeout(MEASURE_MS), ...(signal ? [signal] : [])];
  const job: Job = { prompt, given: [], replay: 'fast', maxTokens: 32, sampling: GREEDY };
  await Array.fromAsync(engine.generate(job, AbortSignal.any(limits))).catch((error: unknown) => {
    signal?.throwIfAborted();
    // Slow is no reason not to join: the speed is measured by answers.
    if (error instanceof EngineError) throw error;
  });
}

const treeOf = (file: string, { info }: Engine, { directory }: WorkerConfig): Promise<FileTree> =>
  openFileTree(file, { cache: path.join(directory, `${info.sha256}.tree`) });

/** The speed of a model that is not loaded is measured by its answers. */
async function contributedModel({ id, file, engine }: OpenedModel, config: WorkerConfig): Promise<ContributedModel> {
  const vocabulary = await readVocabulary(file);
  const tree = await treeOf(file, engine, config);
  const speed = engine.isLoaded === false ? UNKNOWN_SPEED : await measureSpeed(engine);
  const measured = new MeasuredEngine(engine, speed);
  return {
    ...{ name: config.name ?? id, engine: measured, vocabulary, tree },
    get speed() {
      return measured.speed;
    },
  };
}

export function offeredModel({ name, engine, vocabulary, tree, speed }: ContributedModel): OfferedModel {
  const { info, isLoaded, isLoading, memoryBytes } = engine;
  return {
    name,
    sha256: info.sha256,
    vocabularySha256: vocabulary.sha256,
    templateSha256: vocabulary.templateSha256,
    architecture: info.architecture,
    quantisation: info.quantisation,
    sizeBytes: info.sizeBytes,
    parameters: info.parameters,
    contextLength: info.contextLength,
    vocabularySize: info.vocabularySize,
    longestToken: info.longestToken,
    slots: info.slots,
    prefillTokensPerSecond: speed.prefill,
    decodeTokensPerSecond: speed.decode,
    engine: info.engine,
    ...(info.lacks?.length ? { lacks: lacksOf(info.lacks) } : {}),
    ...(tree ? { fileTreeSha256: tree.digest } : {}),
    ...(isLoaded === false ? { loadMs: expectedLoadMs(info.sizeBytes), isLoading: isLoading ?? false } : {}),
    ...(memoryBytes === undefined ? {} : { memoryBytes: Math.ceil(memoryBytes) }),
  };
}

/** A process starts in about a second; its file is read at 1 GB/s. */
const expectedLoadMs = (sizeBytes: number): number => Math.ceil(1_000 + sizeBytes / 1e6);
