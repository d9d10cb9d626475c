// What @strata/advisories offers: advisories in one form, and whether a seen product is affected by one.
export * from './advisory.ts';
export { cvssOf, scoreOf, severityOf } from './cvss.ts';
export { readCveRecord } from './formats/cve-record.ts';
export { type EpssHead, isEpssColumns, readEpssHead, readEpssRow } from './formats/epss.ts';
export { type KevCatalog, readKev } from './formats/kev.ts';
export { type NvdPage, readNvdHead, readNvdPage, readNvdRecord } from './formats/nvd.ts';
export { readOsvRecord } from './formats/osv.ts';
export { MAX_RECORDS, type RecordReading, type RecordsReading, readAll } from './formats/reading.ts';
export { type DocumentKind, recognise } from './formats/recognise.ts';
export { advisoryIdOf, mergeRecords } from './merge.ts';
