// What @strata/stack offers: the settings, scanning without a server, and the running service.
export { type StackService, stackOpenApi } from './app.ts';
export { type Config, ConfigError, Environment as StackEnvironment, Paths, ROLES, readConfig } from './config.ts';
export type { Scanning, StackApp, World } from './context.ts';
export { listAdvisories, listAffected } from './enrichment/affected.ts';
export { Exposures } from './enrichment/exposures.ts';
export { type Enrichment, openEnrichment } from './enrichment/open-enrichment.ts';
export { runSource, type SyncEnd, type SyncProgress } from './enrichment/run-source.ts';
export { type AdvisorySource, SOURCE_NAMES } from './enrichment/source.ts';
export { enrichmentState } from './enrichment/state.ts';
export { feedsOfPage } from './feeds/feeds-of-page.ts';
export { LiveMentions } from './feeds/live-mentions.ts';
export { type Feeding, openFeeding } from './feeds/open-feeding.ts';
export { openPoller } from './feeds/open-poller.ts';
export type { FeedPoller, PollResult } from './feeds/poller.ts';
export {
  feedAddress,
  MAX_LIST_BYTES,
  readListFile,
  readSubscriptions,
  type Subscriptions,
  withoutCredentials,
} from './feeds/subscriptions.ts';
export { readFingerprintFiles } from './fingerprint-files.ts';
export { sharedLedgerOf } from './ledger.ts';
export { loadFingerprints } from './load-fingerprints.ts';
export { openFetcher } from './open-fetcher.ts';
export { openRulebook } from './open-rulebook.ts';
export { openConfiguredStore, openScanning, RESTORING } from './open-scanning.ts';
export type { RunningRole } from './running-role.ts';
export type { ScanOutcome } from './scanner.ts';
export { type RunningStack, serve, startRole, startStack } from './serve.ts';
export { StartError } from './start-error.ts';
export { wellKnownDomains } from './well-known-domains.ts';
