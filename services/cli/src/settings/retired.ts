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

/** Settings that are an item of a list now. They keep their effect, unless the list has the item. */
export const MOVED: Readonly<Record<string, { readonly list: string; readonly item: string }>> = {
  STRATA_ALERT_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'alerts' },
  STRATA_ANOMALY_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'anomalies' },
  STRATA_CHANGE_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'changes' },
  STRATA_CVE_API_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'cve' },
  STRATA_CVE_RAW_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'cve-raw' },
  STRATA_EPSS_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'epss' },
  STRATA_EVENT_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'events' },
  STRATA_FEED_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'feeds' },
  STRATA_KEV_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'kev' },
  STRATA_NVD_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'nvd' },
  STRATA_ON_DEMAND_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'on-demand' },
  STRATA_OSV_URL: { list: 'STRATA_ADVISORY_MIRRORS', item: 'osv' },
  STRATA_SCAN_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'scans' },
  STRATA_STREAM_DAYS: { list: 'STRATA_RETENTION_DAYS', item: 'stream' },
};
