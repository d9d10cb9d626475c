// @strata/stack: settings, scanning without a server, and the running service.

export { type ExportNowOptions, exportNow } from './analytics/export-now.ts';
export { type Catalog, openCatalog, removeRelease } from './catalog/catalog.ts';
export { openReleaseFetcher } from './catalog/open-release-fetcher.ts';
export { formatRelease, MAX_RELEASE_BYTES } from './catalog/release.ts';
export { type CatalogUpdate, fetchRelease, updateCatalog } from './catalog/update-catalog.ts';
export { type Config, Environment as StackEnvironment, Paths, readConfig } from './config.ts';
export type { Scanning, World } from './context.ts';
export { countsOf } from './enrichment/exposure/exposed-domains.ts';
export { Exposures } from './enrichment/exposure/exposures.ts';
export { openEnrichment } from './enrichment/open-enrichment.ts';
export { runSource, type SyncEnd } from './enrichment/run-source.ts';
export { type AdvisorySource, SOURCE_NAMES } from './enrichment/source.ts';
export { enrichmentState } from './enrichment/state.ts';
export { dumpNow } from './exports/dump/dump-now.ts';
export { openFeeding, openPoller } from './feeds/open-poller.ts';
export type { PollResult } from './feeds/poller.ts';
export {
  feedAddress,
  feedsOfPage,
  MAX_LIST_BYTES,
  readListFile,
  readSubscriptions,
  withoutCredentials,
} from './feeds/subscriptions.ts';
export { loadIndex, saveIndex } from './index/index-file.ts';
export { serve, startRole } from './roles/serve.ts';
export { type RunningStack, startStack } from './roles/start-api.ts';
export { stackOpenApi } from './routes/index.ts';
export { loadFingerprints, readFingerprintFiles } from './scan/fingerprint-files.ts';
export { openFetcher } from './scan/open-fetcher.ts';
export { openRulebook } from './scan/open-rulebook.ts';
export { openConfiguredStore, openScanning, RESTORING } from './scan/open-scanning.ts';
export type { ScanOutcome } from './scan/scanner.ts';
