// The public interface of @strata/files.
export { DiskError, formatSize, onDisk } from './disk-error.ts';
export * from './download.ts';
export { makeDirectory, readIfPresent, removeLeftOvers, replaceFile, syncDirectory } from './durable-file.ts';
export { hashFile } from './hash-file.ts';
export { readDocumentNote } from './part-file.ts';
export { deniedText, giveToOwnerOf, systemCode } from './permission.ts';
