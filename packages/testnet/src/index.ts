// Public interface of @strata/testnet: the simulated internet. Only the demo, tests and benches may import it.

export type { AffectedProduct, VulnerabilityFacts } from './advisories/facts.ts';
export { writeZip, type ZipEntry } from './advisories/publishers/zip.ts';
export {
  type AdvisorySource,
  type AdvisorySources,
  type AdvisorySourcesOptions,
  createAdvisorySources,
  type PublishedRecord,
} from './advisories/sources.ts';
export type { MigratingCategory, Migration } from './companies/migrate.ts';
export type { TrueVersion } from './companies/software.ts';
export type { EvidenceType, TrueService, Truth } from './companies/truth.ts';
export type { VantageOptions } from './dns/vantage.ts';
export { type RandomModelOptions, randomModel } from './engines/gguf.ts';
export { tinyChatModel } from './engines/models.ts';
export {
  createSimulatedEngine,
  type SimulatedEngineOptions,
  simulatedAnswer,
} from './engines/simulated-engine.ts';
export { simulatedText, simulatedVocabulary } from './engines/simulated-vocabulary.ts';
export type { FeedBehaviour } from './feeds/behaviours.ts';
export type { FeedRequests, FeedTruth, ListedFeed, TrueItem } from './feeds/feeds.ts';
export { createInternet, type Internet, type InternetOptions } from './internet.ts';
export {
  type LoadedChange,
  type LoadedDomain,
  type LoadedProvider,
  type LoadedService,
  type LoadedWorld,
  type LoadOptions,
  loadedWorld,
} from './loader/loader.ts';
