// Public interface of @strata/engine: the engine interface, llama.cpp engines, the model store, and upstream servers.
export { type Arrangement, arrange } from './arrangement.ts';
export {
  type ChatPrompt,
  EndlessGrammarError,
  type Engine,
  EngineError,
  type EngineErrorCode,
  type Job,
  type JobContext,
  type JobEvent,
  type JobSegment,
  type ModelInfo,
  type ScoreJob,
  type TokenChoice,
  type Vocabulary,
} from './engine.ts';
export { ModelEnvironment, type ModelSettings, readModelSettings } from './model-settings.ts';
export type { DownloadProgress } from './model-store/download.ts';
export { ModelStoreError, type ModelStoreErrorCode } from './model-store/error.ts';
export { listModels, type StoredModel } from './model-store/list-models.ts';
export {
  type ModelStoreDeps,
  type ModelStoreOptions,
  type ResolvedModel,
  resolveModel,
} from './model-store/resolve-model.ts';
export type { DownloadRetry } from './model-store/retry.ts';
export { type ModelLog, type OpenedModel, type OpenModelOptions, openModel } from './open-model.ts';
export { type LlamaEngineDeps, type LlamaEngineOptions, startLlamaEngine } from './process/llama-engine.ts';
export { MeasuredEngine, measureSpeed, type Speed, type SpeedDeps } from './speed.ts';
export {
  type AskDeps,
  type Embedded,
  openUpstream,
  Upstream,
  type UpstreamDeps,
  type UpstreamInfo,
  type UpstreamKind,
  type UpstreamOptions,
  type UpstreamUsage,
} from './upstream/upstream.ts';
export { type OpenedVocabulary, openVocabulary, type VocabularyOptions } from './vocabulary/vocabulary-engine.ts';
export { readVocabulary, type VocabularyFacts, type VocabularyFile } from './vocabulary/vocabulary-file.ts';
export { VocabularySpare } from './vocabulary/vocabulary-spare.ts';
