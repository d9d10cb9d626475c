// What @strata/engine offers: the interface of an engine, llama.cpp behind it, and the models that it loads.
export {
  type ChatPrompt,
  type Engine,
  EngineError,
  type Job,
  type JobEvent,
  type ModelInfo,
  type TokenChoice,
} from './engine.ts';
export { type LlamaEngineParts, type LlamaOptions, startLlamaEngine } from './llama-engine.ts';
export { ModelStoreError, type ModelStoreErrorCode } from './model-store/error.ts';
export { listModels, type StoredModel } from './model-store/list-models.ts';
export type { DownloadProgress } from './model-store/progress.ts';
export type { DownloadRetry } from './model-store/retry.ts';
export { type ModelStoreOptions, type ModelStoreParts, type ResolvedModel, resolveModel } from './model-store.ts';
