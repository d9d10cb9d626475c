// The public interface of @strata/files.
export { makeDirectory, readIfPresent, removeLeftOvers, replaceFile, syncDirectory } from './durable-file.ts';
export { PartFile, type PartFileOptions } from './part-file.ts';
export { deniedText, giveToOwnerOf, systemCode } from './permission.ts';
