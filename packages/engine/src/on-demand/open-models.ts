// Opens the models of the settings: a single one at once; several in a common memory budget, each at its first use.
import { formatSize } from '@strata/files';
import { EngineError } from '../engine.ts';
import type { ModelSettings } from '../model-settings.ts';
import {
  type ArrangedOptions,
  engineOptions,
  fileOf,
  idOf,
  loadEngine,
  type ModelLog,
  type OpenedModel,
  openModel,
} from '../open-model.ts';
import { describeModel, type ModelDescription, PROCESS_BYTES } from './describe-model.ts';
import { NotLoadedError } from './load-backoff.ts';
import { ModelMemory, type ModelMemoryStats } from './model-memory.ts';
import { OnDemandEngine } from './on-demand-engine.ts';

export interface OpenedModels extends AsyncDisposable {
  readonly models: readonly OpenedModel[];
  /** Undefined for a single model without a memory budget, which is always loaded. */
  readonly memory: (() => ModelMemoryStats) | undefined;
}

export interface OpenModelsOptions extends ModelSettings {
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** The rest is for the service itself and for other processes. */
const FREE_SHARE = 0.8;

/**
 * The first model is loaded when this resolves. Rejects with EngineError, for example for a model that exceeds the
 * memory budget, or ModelStoreError, or with the signal's reason.
 */
export async function openModels(options: OpenModelsOptions, log: ModelLog): Promise<OpenedModels> {
  const [model, ...further] = options.models;
  if (model === undefined || (further.length === 0 && options.modelMemoryBytes === undefined)) {
    const opened = model === undefined ? [] : [await openModel({ ...options, model }, log)];
    const close = async () => void (await Promise.all(opened.map(({ engine }) => engine[Symbol.asyncDispose]())));
    return { models: opened, memory: undefined, [Symbol.asyncDispose]: close };
  }
  const described = await describeAll(options, log);
  const budgetBytes = options.modelMemoryBytes ?? FREE_SHARE * freeBytes(described);
  for (const each of described) if (each.memoryBytes > budgetBytes) throw tooLarge(each, budgetBytes);
  await using stack = new AsyncDisposableStack();
  const memory = stack.use(new ModelMemory({ budgetBytes }, { log, nowMs: () => performance.now() }));
  const shared = described.map(({ id, info, memoryBytes, vectorBytes, start }) => {
    const load = (signal: AbortSignal, onDied: (detail: string) => void) =>
      loadEngine({ ...start, sha256: info.sha256 }, log, { signal, onDied });
    return { id, info, file: start.file, model: memory.add({ id, memoryBytes, vectorBytes, load }) };
  });
  const models = shared.map(({ id, file, info, model: own }) => {
    log.info({ model: id, sha256: info.sha256 }, 'model is loaded on demand');
    return { id, file, engine: stack.use(new OnDemandEngine({ file, info }, own)) };
  });
  const never = new AbortController().signal;
  using _first = await shared[0]?.model.use(options.signal ?? never).catch(causeOfFailure);
  const owned = stack.move();
  return { models, memory: () => memory.stats, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface DescribedModel extends ModelDescription {
  readonly id: string;
  readonly start: ArrangedOptions;
}

/** Downloads and reads one file after the other. */
async function describeAll(options: OpenModelsOptions, log: ModelLog): Promise<readonly DescribedModel[]> {
  const described: DescribedModel[] = [];
  for (const model of options.models) {
    const file = await fileOf({ ...options, model }, log);
    const id = idOf(file);
    const other = described.find((each) => each.id === id);
    if (other) throw new EngineError('model-unusable', `two models have the id ${id}: ${other.start.file} and ${file}`);
    const start = await engineOptions(file, { ...options, model });
    described.push({ id, start, ...(await describeModel(start, options.signal)) });
  }
  return described;
}

/** Of the device, if there is one. */
function freeBytes([first]: readonly DescribedModel[]): number {
  return first?.freeDeviceBytes ?? process.availableMemory();
}

function tooLarge({ id, memoryBytes, info, start }: DescribedModel, budgetBytes: number): EngineError {
  const { contextLength, sizeBytes } = info;
  const needs = `${formatSize(memoryBytes)} of memory (file ${formatSize(sizeBytes)}, ${start.slots} slots of ${contextLength} tokens, ${start.processes} processes of ${formatSize(PROCESS_BYTES)})`;
  return new EngineError(
    'model-unusable',
    `the model ${id} needs about ${needs}, more than the ${formatSize(budgetBytes)} that loaded models may use: in STRATA_MODEL_OPTIONS raise memory, or lower context, slots or processes`,
  );
}

/** At the start the reason is reported instead of a time to retry. */
function causeOfFailure(error: unknown): never {
  throw error instanceof NotLoadedError && error.cause instanceof EngineError ? error.cause : error;
}
