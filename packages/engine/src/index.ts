// What @strata/engine offers: the interface of an engine, llama.cpp behind it, and servers of others.
export {
  type ChatPrompt,
  type Engine,
  EngineError,
  type EngineErrorCode,
  type Job,
  type JobEvent,
  type ModelInfo,
  type TokenChoice,
} from './engine.ts';
export { type LlamaEngineParts, type LlamaOptions, startLlamaEngine } from './llama-engine.ts';
export {
  type AskParts,
  type Embedded,
  openUpstream,
  type Upstream,
  type UpstreamInfo,
  type UpstreamKind,
  type UpstreamOptions,
  type UpstreamParts,
  type UpstreamUsage,
} from './upstream.ts';
