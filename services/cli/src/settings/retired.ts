// Names of settings of earlier versions: a service that finds one set prints a warning and starts.

/** Without effect: what holds instead. Only of settings that restricted nothing, and kept nothing from being deleted. */
export const RETIRED: Readonly<Record<string, string>> = {
  STRATA_ADVISORY_HOURS: 'each source is synced every two hours',
  STRATA_FEED_CONCURRENCY: 'sixteen feeds are polled at once',
  STRATA_REPLAY_BUDGET_MS: 'an answer is continued exactly after the loss of a worker if that takes at most one second',
};

/** Limits that are fixed now. A lower value keeps its effect (`loweredLimit`), so that no update raises what an operator lowered. */
export const FIXED: Readonly<Record<string, string>> = {
  STRATA_FREE_STREAMS_PER_ADDRESS: 'a tenth of STRATA_STREAMS_PER_KEY, at most 20',
  STRATA_FREE_STREAMS_PER_KEY: 'a twentieth of STRATA_STREAMS_PER_KEY, at most 10',
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
]);

/** The settings that are lists of items. */
export const LISTS: ReadonlySet<string> = new Set([...MOVED.values()].map(({ list }) => list));
