// What @strata/stack offers: the settings, scanning without a server, and the running service.
export {
  type StackApp,
  type StackService,
  stackOpenApi,
  type World,
} from './app.ts';
export { type Config, ConfigError, readConfig } from './config.ts';
export { type Enrichment, openEnrichment } from './enrichment/open-enrichment.ts';
export { runSource, type SyncEnd, type SyncProgress } from './enrichment/run-source.ts';
export { type AdvisorySource, SOURCE_NAMES } from './enrichment/source.ts';
export { enrichmentState } from './enrichment/state.ts';
export { openConfiguredStore, openScanning, type Scanning } from './open-scanning.ts';
export type { ScanOutcome } from './scanner.ts';
export { type RunningStack, serve, startStack } from './serve.ts';
export { StartError } from './start-error.ts';
export { wellKnownDomains } from './well-known-domains.ts';
