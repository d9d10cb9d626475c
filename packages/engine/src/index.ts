// What @strata/engine offers: the interface of an engine, and llama.cpp behind it.
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
