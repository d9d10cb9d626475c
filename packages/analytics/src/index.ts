// The public API of @strata/analytics.

export * from './analytics.ts';
export { type Anomaly, judge, WINDOW_DAYS } from './anomalies/anomaly.ts';
export type { Sample } from './anomalies/anomaly-step.ts';
export { firstWatchedDay, type WatchedDomains, watchedSeries } from './anomalies/watched-series.ts';
export { MAX_SERVICES } from './columns/domain-columns.ts';
export { categoryNumber, type IndexedService, LEVELS, STATES } from './columns/terms.ts';
export { compareText } from './compare-text.ts';
export { ChangeHistory, type DayOfChanges, type IndexedChange } from './history/change-history.ts';
export { DAY_MS, dayOf } from './history/daily-series.ts';
export { FLOW_DAYS, type Flow, type FlowFilter, type Flows, type IndexedMigration } from './history/migration-log.ts';
export type { CountedScans } from './history/scan-days.ts';
export { DomainIndex, type IndexedDomain, type IndexPosition, shownBy, type Touched } from './index/domain-index.ts';
export { IndexBuilder } from './index/index-builder.ts';
export { domainRow, type MemoryDeps, memoryAnalytics } from './memory-analytics.ts';
export { allDomains, evaluateQuery } from './query/evaluate-query.ts';
export { type BuildCount, inOrder as buildOrder, MAX_FIRST, type ProductBuild } from './query/product-builds.ts';
export { type Query, QueryError, type QueryNames } from './query/query.ts';
export { MAX_QUERY, readQuery } from './query/read-query.ts';
export { adoptionCurve, curveOf } from './questions/adoption-curve.ts';
export { coAdoption } from './questions/co-adoption.ts';
export {
  type Market,
  type MarketBase,
  market,
  marketOf,
  markets,
  type RoleMarket,
  roleMarket,
  roleMarkets,
  withChanges,
} from './questions/concentration.ts';
export {
  type DomainOrder,
  FACETS,
  type Facet,
  facetOf,
  inOrder,
  type OrderKey,
  orderValue,
} from './questions/domain-query.ts';
export { MIN_SUPPORT, type Neighbourhood, neighbourhood } from './questions/neighbours.ts';
export { countDomains, type Population, sizeIn } from './questions/population.ts';
export * from './questions/providers.ts';
export { assessRisk, type ExposureInput } from './questions/risk.ts';
export {
  type Adoption,
  COUNTED_STANDARDS,
  type ScoreCounts,
  type Scorecard,
  scorecard,
  scorecardOf,
} from './questions/scorecard.ts';
export * from './questions/search.ts';
export { type Statistics, statistics } from './questions/statistics.ts';
export { type SupplyChain, supplyChain } from './questions/supply-chain.ts';
export { DomainSet } from './sets/domain-set.ts';
export { difference, intersection, intersectionSize, union } from './sets/set-operations.ts';
export { decodeSnapshot, encodeSnapshot } from './snapshot/snapshot.ts';
