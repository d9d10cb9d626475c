// Reads an archive with one record per file, in steps that each have a cursor.
import { rm } from 'node:fs/promises';
import type { RecordReading } from '@strata/advisories';
import { RecordBatch, readRecord, SourceError, type Step } from '../source.ts';
import { type ZipEntry, zipEntries } from './zip-entries.ts';

export interface ArchiveOptions {
  readonly read: (json: unknown) => RecordReading;
  /** Whether an entry is a record; other entries are skipped. */
  readonly isWanted: (name: string) => boolean;
  /** Entries to skip: already read. */
  readonly from: number;
  /** The cursor after a number of entries. */
  readonly cursorAt: (entry: number) => unknown;
  readonly signal: AbortSignal;
}

const RECORDS_AT_ONCE = 500;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

export async function* archiveSteps(file: string, options: ArchiveOptions): AsyncGenerator<Step> {
  let entry = 0;
  let batch = new RecordBatch();
  for await (const each of zipEntries(file)) {
    entry += 1;
    if (entry <= options.from) continue;
    options.signal.throwIfAborted();
    if (options.isWanted(each.name)) batch.add(await readEntry(each, options.read));
    if (batch.size < RECORDS_AT_ONCE) continue;
    yield batch.step(options.cursorAt(entry));
    batch = new RecordBatch();
  }
  yield batch.step(options.cursorAt(entry));
}

/** Reads a downloaded archive; removes it if it is damaged, so that the next sync downloads it again. */
export async function* downloadedSteps(file: string, options: ArchiveOptions): AsyncGenerator<Step> {
  try {
    yield* archiveSteps(file, options);
  } catch (error) {
    if (error instanceof SourceError) await rm(file, { force: true });
    throw error;
  }
}

/** Skips a damaged file among thousands; a damaged archive already fails at its directory. */
async function readEntry(entry: ZipEntry, read: ArchiveOptions['read']): Promise<RecordReading> {
  const name = entry.name.slice(entry.name.lastIndexOf('/') + 1);
  try {
    return readRecord(await entry.read(MAX_RECORD_BYTES), name, read);
  } catch (error) {
    const why = error instanceof SourceError ? error.message : `${name.slice(0, 100)}: it is damaged`;
    return { record: null, problem: why };
  }
}
