// Names of settings of earlier versions: a service that finds one set prints a warning and starts.

/** Without effect: what holds instead. Only of settings that restricted nothing, and kept nothing from being deleted. */
export const RETIRED: Readonly<Record<string, string>> = {
  STRATA_ADVISORY_HOURS: 'each source is synced every two hours',
  STRATA_FEED_CONCURRENCY: 'sixteen feeds are polled at once',
  STRATA_REPLAY_BUDGET_MS: 'an answer is continued exactly after the loss of a worker if that takes at most one second',
};

/** Limits that are fixed now. A lower value keeps its effect (`loweredLimit`), so that no update raises what an operator lowered. */
export const FIXED: Readonly<Record<string, string>> = {
  STRATA_FREE_STREAMS_PER_ADDRESS: 'a tenth of streams-per-key of STRATA_LIMITS, at most 20',
  STRATA_FREE_STREAMS_PER_KEY: 'a twentieth of streams-per-key of STRATA_LIMITS, at most 10',
  STRATA_INFERENCE_DATABASE_CONNECTIONS: 'STRATA_DATABASE_CONNECTIONS is for gateways too',
  STRATA_NETWORK_WORKERS: 'a gateway keeps the thousand most useful workers',
  STRATA_ON_DEMAND_ADDRESS_PER_DAY: 'twenty new names below private suffixes for each client address',
  STRATA_ON_DEMAND_SUFFIX_PER_DAY: '200 new names below one private suffix, 2,000 below all',
  STRATA_WITNESS_REQUESTS_PER_SECOND: 'a hundred requests a second of an address are accepted',
};

/** A setting that is now an item of `list`. It keeps its effect, unless the list has the item. */
export interface Moved {
  readonly list: string;
  readonly item: string;
}

const itemsOfList = (list: string, items: Readonly<Record<string, string>>) =>
  Object.entries(items).map(([name, item]): readonly [string, Moved] => [`STRATA_${name}`, { list, item }]);

export const MOVED: ReadonlyMap<string, Moved> = new Map([
  ...itemsOfList('STRATA_ADVISORY_MIRRORS', {
    CVE_API_URL: 'cve',
    CVE_RAW_URL: 'cve-raw',
    EPSS_URL: 'epss',
    KEV_URL: 'kev',
    NVD_URL: 'nvd',
    OSV_URL: 'osv',
    ADVISORY_FOLDER: 'folder',
  }),
  ...itemsOfList('STRATA_CATALOG', { CATALOG_SIGNERS: 'signers', CATALOG_URL: 'url' }),
  ...itemsOfList('STRATA_FEEDS', { FEEDS_FILE: 'file' }),
  ...itemsOfList('STRATA_LIMITS', {
    CONNECTIONS: 'connections',
    CONNECTIONS_PER_ADDRESS: 'connections-per-address',
    STREAMS_PER_KEY: 'streams-per-key',
  }),
  ...itemsOfList('STRATA_METRICS_PORT', { INFERENCE_METRICS_PORT: 'gateway', WORKER_METRICS_PORT: 'worker' }),
  ...itemsOfList('STRATA_MODEL_OPTIONS', {
    HF_ENDPOINT: 'hf-endpoint',
    MODEL_CONTEXT: 'context',
    MODEL_DIRECTORY: 'directory',
    MODEL_FLASH_ATTENTION: 'flash-attention',
    MODEL_GPU: 'gpu',
    MODEL_KV_CACHE: 'kv-cache',
    MODEL_MEMORY: 'memory',
    MODEL_PROCESSES: 'processes',
    MODEL_SLOTS: 'slots',
    MODEL_THREADS: 'threads',
  }),
  ...itemsOfList('STRATA_NETWORK_OPTIONS', {
    AUDIT_SHARE: 'audit-share',
    HEDGE_AFTER: 'hedge-after',
    NETWORK_MODELS: 'models',
  }),
  ...itemsOfList('STRATA_P2P', {
    MDNS: 'mdns',
    NETWORK_KEY_FILE: 'network-key-file',
    P2P_ALLOW: 'allow',
    P2P_ANNOUNCE: 'announce',
    P2P_KEY_FILE: 'key-file',
    P2P_LISTEN: 'listen',
    P2P_PRIVATE_ADDRESSES: 'private-addresses',
    P2P_RELAY: 'relay',
  }),
  ...itemsOfList('STRATA_RETENTION_DAYS', {
    ALERT_DAYS: 'alerts',
    ANOMALY_DAYS: 'anomalies',
    CHANGE_DAYS: 'changes',
    EVENT_DAYS: 'events',
    FEED_DAYS: 'feeds',
    ON_DEMAND_DAYS: 'on-demand',
    SCAN_DAYS: 'scans',
    STREAM_DAYS: 'stream',
  }),
  ...itemsOfList('STRATA_SCAN_OPTIONS', {
    CONFIRM_AFTER_HOURS: 'confirm-hours',
    FEED_SCAN: 'mentioned',
    FEED_SCAN_PER_DAY: 'mentioned-per-day',
    ON_DEMAND: 'on-demand',
    ON_DEMAND_PER_HOUR: 'on-demand-per-hour',
    RESCAN_HOURS: 'rescan-hours',
    SCAN_CONCURRENCY: 'concurrency',
  }),
  ...itemsOfList('STRATA_UPSTREAM_OPTIONS', { UPSTREAM_CONTEXT: 'context', UPSTREAM_PLACES: 'slots' }),
  ...itemsOfList('STRATA_WITNESSES', { WITNESSES_REQUIRED: 'required' }),
]);

/** The settings that are lists of items. */
export const LISTS: ReadonlySet<string> = new Set([...MOVED.values()].map(({ list }) => list));
