// The public interface of @strata/files.
export { DiskError, formatSize, onDisk } from './disk-error.ts';
export {
  type DocumentFacts,
  type DownloadAnswer,
  type DownloadedBytes,
  downloadFile,
  type RangeHeaders,
} from './download.ts';
export { makeDirectory, readIfPresent, removeLeftOvers, replaceFile, syncDirectory } from './durable-file.ts';
export { hashFile } from './hash-file.ts';
export { type DocumentNote, readDocumentNote } from './part-file.ts';
export { deniedText, giveToOwnerOf, systemCode } from './permission.ts';
