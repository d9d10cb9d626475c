// The public interface of @strata/files.
export { PartFile, type PartFileOptions } from './part-file.ts';
