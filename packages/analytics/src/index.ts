// What @strata/analytics offers.

export { adoptionCurve, type CurvePoint } from './adoption-curve.ts';
export { type Anomaly, judge, type SeriesKind, WINDOW_DAYS } from './anomaly.ts';
export { readableDays } from './anomaly-days.ts';
export type { Sample } from './anomaly-step.ts';
export type { Build } from './builds.ts';
export {
  ChangeHistory,
  type CountedScans,
  type DayOfChanges,
  type DayOfScans,
  type IndexedChange,
  type IndexedMigration,
} from './change-history.ts';
export { type CoAdoption, coAdoption } from './co-adoption.ts';
export {
  type Band,
  bandOf,
  herfindahl,
  type Market,
  type MarketOptions,
  type MarketProvider,
  market,
  markets,
} from './concentration.ts';
export { DAY_MS, DailySeries, dayOf } from './daily-series.ts';
export { DomainIndex, type IndexedDomain, type IndexPosition, type Touched } from './domain-index.ts';
export { DomainSet } from './domain-set.ts';
export { IndexBuilder } from './index-builder.ts';
export { FLOW_DAYS, type Flow, type FlowFilter, type Flows } from './migration-log.ts';
export { MIN_SUPPORT } from './neighbours.ts';
export { categoriesOf, type Leader, leaders, providersInUse, rankOf, TREND_DAYS } from './providers.ts';
export {
  assessRisk,
  type ExposureInput,
  type RiskFactor,
  type RiskInput,
  type RiskLevel,
  type RiskPart,
  type RiskProfile,
} from './risk.ts';
export { type Adoption, COUNTED_STANDARDS, type CountedStandard, type Scorecard, scorecard } from './scorecard.ts';
export { type DomainFilter, type FoundDomains, inNameOrder, type Page, searchDomains, worstScores } from './search.ts';
export { decodeSnapshot, encodeSnapshot, SNAPSHOT_VERSION } from './snapshot.ts';
export { type Dependence, type SupplyChain, supplyChain } from './supply-chain.ts';
export { type IndexedService, LEVELS, STATES } from './terms.ts';
export { type WatchedSeries, watchedSeries } from './watched-series.ts';
