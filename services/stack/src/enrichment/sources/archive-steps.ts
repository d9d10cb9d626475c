// An archive of records, one file each, as steps: so many at once, each step with its place in the archive.
import { rm } from 'node:fs/promises';
import type { RecordReading } from '@strata/advisories';
import { RecordBatch, readRecord, SourceError, type Step } from '../source.ts';
import { type ZipEntry, zipEntries } from './zip-entries.ts';

export interface ArchiveOptions {
  readonly read: (json: unknown) => RecordReading;
  /** Whether an entry is one of the records; the others are passed over unread. */
  readonly isWanted: (name: string) => boolean;
  /** Entries to pass over: they were read before. */
  readonly from: number;
  /** The cursor after so many entries. */
  readonly place: (entry: number) => unknown;
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
    yield batch.step(options.place(entry));
    batch = new RecordBatch();
  }
  yield batch.step(options.place(entry));
}

/** Of an archive that was downloaded: a damaged one is removed, so that the next sync fetches it anew. */
export async function* downloadedSteps(file: string, options: ArchiveOptions): AsyncGenerator<Step> {
  try {
    yield* archiveSteps(file, options);
  } catch (error) {
    if (error instanceof SourceError) await rm(file, { force: true });
    throw error;
  }
}

/** A broken file among thousands is one record less; a broken archive shows in its directory. */
async function readEntry(entry: ZipEntry, read: ArchiveOptions['read']): Promise<RecordReading> {
  const name = entry.name.slice(entry.name.lastIndexOf('/') + 1);
  try {
    return readRecord(await entry.read(MAX_RECORD_BYTES), name, read);
  } catch (error) {
    const why = error instanceof SourceError ? error.message : `${name.slice(0, 100)}: it is damaged`;
    return { record: null, problem: why };
  }
}
