// Public interface of @strata/testnet: the simulated internet. Only the demo, tests and benches may import it.

export type { VulnerabilityFacts } from './advisories/facts.ts';
export { writeZip, type ZipEntry } from './advisories/publishers/zip.ts';
export {
  type AdvisorySources,
  type AdvisorySourcesOptions,
  createAdvisorySources,
} from './advisories/sources.ts';
export type { Truth } from './companies/truth.ts';
export { type Question, type Reply, startDnsServer } from './dns/dns-server.ts';
export type { DnsRecord } from './dns/published-records.ts';
export { type ModelFamily, type RandomModelOptions, randomModel, randomModelParts } from './engines/gguf.ts';
export type { InferenceServerKind } from './engines/inference-dialects.ts';
export {
  type InferenceFault,
  type InferenceServer,
  type InferenceServerOptions,
  PROMPT_END,
  startInferenceServer,
} from './engines/inference-server.ts';
export { tinyChatModel } from './engines/models.ts';
export {
  createSimulatedEngine,
  type SimulatedEngineOptions,
  simulatedAnswer,
} from './engines/simulated-engine.ts';
export { pieceVocabulary, simulatedText, simulatedVocabulary } from './engines/simulated-vocabulary.ts';
export type { FeedBehaviour } from './feeds/behaviours.ts';
export type { ListedFeed } from './feeds/feeds.ts';
export { createInternet, type Internet, type InternetOptions } from './internet.ts';
export {
  type LoadedDomain,
  type LoadedService,
  type LoadedWorld,
  loadedWorld,
} from './loader/loader.ts';
export { type Mint, mintFor, type Random, randomFor } from './random.ts';
export { Certificates } from './web/certificates.ts';
