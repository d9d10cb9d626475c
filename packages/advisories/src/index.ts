// What @strata/advisories offers: advisories in one form, and whether a seen product is affected by one.
export * from './advisory.ts';
export { CPE_ATTRIBUTES, type Cpe, parseCpe, productKeyOf } from './cpe.ts';
export { type CpeRelation, compareCpeValues } from './cpe-compare.ts';
export type { CpeValue } from './cpe-value.ts';
export type { Assessed, Entry } from './entry.ts';
export { type Build, ExposureIndex, type KnownProduct } from './exposure-index.ts';
export { readCveRecord } from './formats/cve-record.ts';
export { type EpssHead, isEpssColumns, readEpssHead, readEpssRow } from './formats/epss.ts';
export { readKev } from './formats/kev.ts';
export { readNvdHead, readNvdPage, readNvdRecord } from './formats/nvd.ts';
export { readOsvRecord } from './formats/osv.ts';
export type { RecordReading, RecordsReading } from './formats/reading.ts';
export { type DocumentKind, recognise } from './formats/recognise.ts';
export {
  type CompiledAdvisory,
  compileAdvisory,
  type Judgement,
  judge,
  judgeCompiled,
  productKeysOf,
  type Reason,
  type SeenProduct,
} from './judge.ts';
export { advisoryIdOf, mergeRecords } from './merge.ts';
export { byUrgency, type Priority, priorityOf } from './priority.ts';
export { isInRange, rangeInWords } from './ranges.ts';
export { isAffected, type RowCounts, type VerdictCode, type VerdictList } from './verdict-list.ts';
export {
  compareVersions,
  type DistributionVersion,
  distributionOf,
  readVersion,
  type VersionKey,
} from './version.ts';
