// Names of settings of earlier versions. They have no effect: a service that finds one set prints a warning and starts.

/** The reason, or what to set instead. */
export const RETIRED: Readonly<Record<string, string>> = {
  STRATA_CONNECTIONS_PER_ADDRESS: 'an address may have three quarters of STRATA_CONNECTIONS',
  STRATA_FREE_STREAMS_PER_KEY: 'a free key may have 10 streams',
  STRATA_FREE_STREAMS_PER_ADDRESS: 'the free keys of an address may have 20 streams together',
  STRATA_ON_DEMAND_SUFFIX_PER_DAY: 'a private suffix may have 200 new names a day',
  STRATA_ON_DEMAND_ADDRESS_PER_DAY: 'an address may add 20 names below private suffixes a day',
  STRATA_ON_DEMAND_DAYS: 'a domain scanned on demand is kept for 90 days, and for at least four rescans',
  STRATA_NVD_URL: 'write STRATA_ADVISORY_URLS=nvd=URL',
  STRATA_KEV_URL: 'write STRATA_ADVISORY_URLS=kev=URL',
  STRATA_EPSS_URL: 'write STRATA_ADVISORY_URLS=epss=URL',
  STRATA_OSV_URL: 'write STRATA_ADVISORY_URLS=osv=URL',
  STRATA_CVE_API_URL: 'write STRATA_ADVISORY_URLS=cve=URL',
  STRATA_CVE_RAW_URL: 'write STRATA_ADVISORY_URLS=cve-raw=URL',
  STRATA_FEED_CONCURRENCY: 'sixteen feeds are polled at once',
  STRATA_FEED_SCAN: 'STRATA_FEED_SCAN_PER_DAY alone decides; 0 is off',
  STRATA_INFERENCE_DATABASE_CONNECTIONS: 'STRATA_DATABASE_CONNECTIONS holds for each service',
  STRATA_REPLAY_BUDGET_MS: 'the loss of a worker may interrupt an answer for one second',
  STRATA_NETWORK_WORKERS: 'a gateway has at most 1,000 connected workers',
  STRATA_NETWORK_MODELS: 'a gateway serves at most 64 models of the network, pinned ones not counted',
};
