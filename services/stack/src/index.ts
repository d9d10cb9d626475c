// What @strata/stack offers: the settings, scanning without a server, and the running service.
export {
  openConfiguredStore,
  openScanning,
  type Scanning,
  type StackApp,
  type StackService,
  stackOpenApi,
  type World,
} from './app.ts';
export { type Config, ConfigError, readConfig } from './config.ts';
export { LiveMentions } from './feeds/live-mentions.ts';
export { feedsOfPage } from './feeds/look-at-page.ts';
export { type Feeding, openFeeding } from './feeds/open-feeding.ts';
export { openPoller } from './feeds/open-feeds.ts';
export type { FeedPoller, PollResult } from './feeds/poller.ts';
export {
  feedAddress,
  MOST_LIST_BYTES,
  readListFile,
  readSubscriptions,
  type Subscriptions,
} from './feeds/subscriptions.ts';
export { openFetcher } from './open-fetcher.ts';
export type { ScanOutcome } from './scanner.ts';
export { type RunningStack, serve, startStack } from './serve.ts';
export { StartError } from './start-error.ts';
export { wellKnownDomains } from './well-known-domains.ts';
