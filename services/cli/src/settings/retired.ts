// Names of settings of earlier versions. They have no effect: a service that finds one set prints a warning and starts.

/** What holds instead. Only of settings that restricted nothing: a restriction must keep its effect. */
export const RETIRED: Readonly<Record<string, string>> = {
  STRATA_FEED_CONCURRENCY: 'sixteen feeds are polled at once',
  STRATA_REPLAY_BUDGET_MS: 'an answer is continued exactly after the loss of a worker if that takes at most one second',
};
