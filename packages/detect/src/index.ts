// The public API of @strata/detect: names, the rulebook, detection, and the types of evidence and profiles.

export { detect } from './detect.ts';
export * from './evidence/evidence.ts';
export { extractPage, type PageOptions } from './evidence/page.ts';
export { exampleProblems, patternProblems, recordOf } from './examples.ts';
export { evidenceFromRecord, explainRecord, RecordError } from './explain.ts';
export { factsOf } from './fingerprints/facts.ts';
export { type FingerprintSet, type LoadReport, slugOf } from './fingerprints/read/fingerprint-set.ts';
export { readFingerprints, type SetFile } from './fingerprints/read/read-set.ts';
export type { ChangeType, Importance, NewChange, ServiceChange } from './history/change.ts';
export type { OpenInterval } from './history/intervals.ts';
export { type KnownService, keyOf, type ServiceStatus } from './history/known-service.ts';
export { allStale, type StaleValues } from './history/last-measured.ts';
export {
  type KnownDomain,
  NEVER_SCANNED,
  needsRedetection,
  type PlanOptions,
  planScan,
  type RecordOptions,
  type ScanPlan,
  type ScanRecord,
} from './history/plan-scan.ts';
export { type ProfileSummary, type PublishedState, summaryOf } from './history/published-state.ts';
export { packHolders } from './judge/holders.ts';
export { idleLabels } from './judge/idle-labels.ts';
export { sentenceOf } from './judge/sentence.ts';
export { type Delimiter, delimiterOf, hostIn, nameColumn } from './names/name-column.ts';
export { isWithin, PUBLIC_SUFFIX_LIST, parseDomain, privateSuffixOf, registrableDomain } from './names/names.ts';
export { isPrivateName } from './names/private-names.ts';
export { dmarcReportHosts } from './posture/mail/dmarc-policy.ts';
export {
  POSTURE_FLAGS,
  type PostureFlag,
  packPosture,
  postureBit,
  type Regression,
  regressionsOf,
} from './posture/posture-flags.ts';
export { explainFactor } from './posture/score/explain-factor.ts';
export { gradeOf } from './posture/score/score.ts';
export { restorePosture, type StoredPosture, shortenPosture } from './posture/stored-posture.ts';
export * from './profile.ts';
export { AddressRangeError, type AddressRanges, loadAddressRanges, type RangeFile } from './ranges/address-ranges.ts';
export { type ObservedRecords, observedRecords } from './records/observed-records.ts';
export { type KnownRecords, type RecordInterval, UNMEASURED } from './records/plan-records.ts';
export { MAX_VALUE_LENGTH, RECORD_KINDS, type RecordKind, recordValue } from './records/record-kinds.ts';
export { Provider, productKeysOf } from './rulebook/catalog.ts';
export { KINDS, type Kind } from './rulebook/kinds.ts';
export { CatalogError, loadCatalog } from './rulebook/load-catalog.ts';
export { patternsOf } from './rulebook/patterns.ts';
export { type CompileOptions, compileRulebook, type Rulebook } from './rulebook/rulebook.ts';
export { SectorListError, sectorListOf } from './sector/sector-list.ts';
export { SECTORS } from './sector/sector-types.ts';
export { spfNamesToQuery } from './spf/reach.ts';
export { type Fact, type Suggestion, suggestionsOf } from './suggestions.ts';
