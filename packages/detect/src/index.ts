// What @strata/detect offers: names, the rulebook, detection, and the types that evidence and profiles have.
export {
  AddressRangeError,
  type AddressRanges,
  loadAddressRanges,
  type PublishedRange,
  type RangeFile,
  type RangeFileReport,
} from './address-ranges.ts';
export { Provider, productKeysOf, RuleGroup } from './catalog.ts';
export { detect } from './detect.ts';
export { dmarcReportHosts } from './dmarc-policy.ts';
export * from './evidence.ts';
export { type Explanation, evidenceFromRecord, explainRecord, RecordError } from './explain.ts';
export { explainFactor, type FactorExplanation } from './explain-factor.ts';
export type { FingerprintSet, LoadReport, SetProblem } from './fingerprints/fingerprint-set.ts';
export { readFingerprints, type SetFile } from './fingerprints/read-set.ts';
export * from './history.ts';
export { holderAt, packHolders } from './holders.ts';
export { KINDS, type Kind } from './kinds.ts';
export { CatalogError, loadCatalog } from './load-catalog.ts';
export {
  isWithin,
  type NameProblem,
  type ParsedDomain,
  parseDomain,
  privateSuffixOf,
  registrableDomain,
} from './names.ts';
export { extractPage, type PageOptions } from './page.ts';
export { assessPosture } from './posture.ts';
export {
  POSTURE_FLAGS,
  type PostureFlag,
  packPosture,
  postureBit,
  REGRESSIONS,
  type Regression,
  regressionsOf,
} from './posture-flags.ts';
export { isPrivateName } from './private-names.ts';
export * from './profile.ts';
export { HOLDERS, type Holder } from './profile.ts';
export { type CompileOptions, compileRulebook, type Rulebook } from './rulebook.ts';
export { gradeOf } from './score.ts';
export { type SectorList, type SectorSource, sectorOf } from './sector.ts';
export { SectorListError, sectorListOf } from './sector-list.ts';
export { SECTORS, type Sector } from './sector-types.ts';
export { sentenceOf } from './sentence.ts';
export { checkHost, type SpfLookups, type SpfQuestion, type SpfVerdict } from './spf/check-host.ts';
export { spfNamesToAsk } from './spf/reach.ts';
export { spfTargets } from './spf/senders.ts';
export type { SpfSender } from './spf/types.ts';
export { stillParked } from './still-parked.ts';
export { restorePosture, type StoredPosture, shortenPosture } from './stored-posture.ts';
export type { ShownVersion } from './version.ts';
