// The public API of @strata/analytics.

export { type Anomaly, judge, type SeriesKind, WINDOW_DAYS } from './anomalies/anomaly.ts';
export { readableDays } from './anomalies/anomaly-days.ts';
export type { Sample } from './anomalies/anomaly-step.ts';
export { type WatchedSeries, watchedSeries } from './anomalies/watched-series.ts';
export type { Build } from './columns/builds.ts';
export { type IndexedService, LEVELS, STATES } from './columns/terms.ts';
export { ChangeHistory, type DayOfChanges, type IndexedChange } from './history/change-history.ts';
export { DAY_MS, DailySeries, dayOf } from './history/daily-series.ts';
export { FLOW_DAYS, type Flow, type FlowFilter, type Flows, type IndexedMigration } from './history/migration-log.ts';
export type { CountedScans, DayOfScans } from './history/scan-days.ts';
export { DomainIndex, type IndexedDomain, type IndexPosition, type Touched } from './index/domain-index.ts';
export { IndexBuilder } from './index/index-builder.ts';
export { decodeSnapshot, encodeSnapshot, SNAPSHOT_VERSION } from './index/snapshot.ts';
export { adoptionCurve, type CurvePoint } from './questions/adoption-curve.ts';
export { type CoAdoption, coAdoption } from './questions/co-adoption.ts';
export {
  type Band,
  bandOf,
  herfindahl,
  type Market,
  type MarketOptions,
  type MarketProvider,
  market,
  markets,
} from './questions/concentration.ts';
export { MIN_SUPPORT } from './questions/neighbours.ts';
export {
  categoriesOf,
  categorySize,
  type Leader,
  leaders,
  providersInUse,
  rankOf,
  TREND_DAYS,
} from './questions/providers.ts';
export {
  assessRisk,
  type ExposureInput,
  type RiskFactor,
  type RiskInput,
  type RiskLevel,
  type RiskPart,
  type RiskProfile,
} from './questions/risk.ts';
export {
  type Adoption,
  COUNTED_STANDARDS,
  type CountedStandard,
  type Scorecard,
  scorecard,
} from './questions/scorecard.ts';
export {
  type DomainFilter,
  type FoundDomains,
  inNameOrder,
  type Page,
  searchDomains,
  worstScores,
} from './questions/search.ts';
export { type Dependence, type SupplyChain, supplyChain } from './questions/supply-chain.ts';
export { DomainSet } from './sets/domain-set.ts';
export { difference, intersection, intersectionSize, union } from './sets/set-operations.ts';
