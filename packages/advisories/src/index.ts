// The public API of @strata/advisories: readers of publishers' documents, advisories in one form, and matching with
// products.
export {
  type Advisory,
  type AdvisoryRecord,
  type ExploitScore,
  type KnownExploited,
  SEVERITIES,
  type Severity,
} from './advisory.ts';
export { type Assessed, byUrgency, type Entry, priorityOf } from './entry.ts';
export { type Build, ExposureIndex } from './exposure/exposure-index.ts';
export { isAffected, type RowCounts } from './exposure/verdict-list.ts';
export { readCveRecord } from './formats/cve/cve-record.ts';
export { isEpssColumns, readEpssHead, readEpssRow } from './formats/epss.ts';
export { readKev } from './formats/kev.ts';
export { readNvdHead, readNvdRecord } from './formats/nvd.ts';
export { readOsvRecord } from './formats/osv/osv.ts';
export type { RecordReading } from './formats/reading.ts';
export { recognise } from './formats/recognise.ts';
export { compileAdvisory, judgeCompiled, productKeysOf } from './judge/judge.ts';
export { advisoryIdOf, mergeRecords } from './merge.ts';
