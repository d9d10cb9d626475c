// Public interface of @strata/engine: the engine interface, llama.cpp engines, the model store, and upstream servers.
export { isAuditable } from './attention.ts';
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
  type ModelMarks,
  type ScoreJob,
  type TokenChoice,
  type Vocabulary,
} from './engine.ts';
export {
  checkAuditable,
  checkModelSettings,
  ModelEnvironment,
  ModelItems,
  type ModelSettings,
  readModelSettings,
} from './model-settings.ts';
export { CHUNK_BYTES, type FileTree, fileTreeDigest, openFileTree } from './model-store/file-tree.ts';
export { listModels } from './model-store/list-models.ts';
export { type ModelStoreOptions, resolveModel } from './model-store/resolve-model.ts';
export { NotLoadedError } from './on-demand/load-backoff.ts';
export type { ModelMemoryStats } from './on-demand/model-memory.ts';
export { type OpenedModels, openModels } from './on-demand/open-models.ts';
export type { OpenedModel } from './open-model.ts';
export { startLlamaEngine } from './process/llama-engine.ts';
export { type OpenedRemote, openRemoteModel, type RemoteServer, tryRemote } from './remote/open-remote.ts';
export { MeasuredEngine, measureSpeed, type Speed } from './speed.ts';
export { UpstreamError, type UpstreamFault } from './upstream/errors.ts';
export { UpstreamPages } from './upstream/pages.ts';
export { openUpstream, type Upstream, type UpstreamOptions } from './upstream/upstream.ts';
export { type OpenedVocabulary, openVocabulary, type TokenBytes } from './vocabulary/vocabulary-engine.ts';
export { readVocabulary, type VocabularyFacts, type VocabularyFile } from './vocabulary/vocabulary-file.ts';
export { VocabularySpare } from './vocabulary/vocabulary-spare.ts';
