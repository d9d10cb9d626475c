// A publisher's file on disk: one record, or several steps. The format is detected from the content.
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type RecordReading, readCveRecord, readNvdHead, readOsvRecord, recognise } from '@strata/advisories';
import { RecordBatch, SourceError, type Step } from '../source.ts';
import { archiveSteps } from './archive-steps.ts';
import { epssSteps } from './epss.ts';
import { kevStep } from './kev.ts';
import { nvdSteps } from './nvd.ts';
import { readJson } from './read-json.ts';
import { zipEntries } from './zip-entries.ts';

export interface FileScope {
  /** Where an inner archive is unpacked. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

const MAX_FILE_BYTES = 512 * 1024 * 1024;
const MAX_INNER_BYTES = 8 * 1024 ** 3;

/** Unreadable content is reported as skipped; the cursors of the steps are null. */
export async function contentOf(file: string, scope: FileScope): Promise<RecordReading | AsyncIterable<Step>> {
  const name = path.basename(file);
  if (/\.csv(?:\.gz)?$/i.test(name)) return readable(name, epssSteps(file, null, new Date()));
  if (/\.zip$/i.test(name)) return readable(name, zipSteps(file, scope));
  try {
    const json = await readDocument(file);
    switch (json === undefined ? 'unknown' : recognise(json)) {
      case 'kev':
        // A file in the folder may contain a part of the catalogue.
        return only({ ...kevStep(json, name, null), isPart: true });
      case 'nvd':
        return readable(name, nvdFileSteps(json));
      default:
        return readAny(json, name);
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { record: null, problem: error.message };
  }
}

async function* only(step: Step): AsyncGenerator<Step> {
  yield step;
}

async function* readable(name: string, steps: AsyncIterable<Step>): AsyncGenerator<Step> {
  try {
    yield* steps;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const batch = new RecordBatch();
    batch.add({ record: null, problem: `${name}: ${error.message}` });
    yield batch.step(null);
  }
}

/** An archive of records, or an archive that contains one, like the CVE List's. */
async function* zipSteps(file: string, { scratch, signal }: FileScope): AsyncGenerator<Step> {
  const read = (json: unknown) => readAny(json, path.basename(file));
  const options = { read, isWanted: isRecordFile, from: 0, cursorAt: () => null, signal };
  await mkdir(path.dirname(scratch), { recursive: true });
  const inner = await unpackInner(file, scratch);
  if (!inner) return yield* archiveSteps(file, options);
  try {
    yield* archiveSteps(scratch, options);
  } finally {
    await rm(scratch, { force: true });
  }
}

/** Whether the first entry is an archive, which is then unpacked to `scratch`. */
async function unpackInner(file: string, scratch: string): Promise<boolean> {
  for await (const entry of zipEntries(file)) {
    if (!entry.name.toLowerCase().endsWith('.zip')) return false;
    await entry.unpack(scratch, MAX_INNER_BYTES);
    return true;
  }
  return false;
}

const isRecordFile = (name: string): boolean => /\.json$/i.test(name) && isAdvisoryFile(name);

/** Excludes OSV's malware records (`MAL-…`) and the CVE List's change logs. */
export const isAdvisoryFile = (name: string): boolean =>
  !/(?:^|[/\\])(?:MAL-[^/\\]*|delta(?:Log)?)\.json(?:\.gz)?$/.test(name);

async function readDocument(file: string): Promise<unknown> {
  const name = path.basename(file);
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new SourceError(`${name} is longer than ${MAX_FILE_BYTES} bytes`);
  const bytes = await readFile(file);
  try {
    const body = /\.gz$/i.test(name) ? await promisify(gunzip)(bytes, { maxOutputLength: MAX_FILE_BYTES }) : bytes;
    return readJson(body);
  } catch (cause) {
    throw new SourceError(`${name} is damaged or not JSON`, { cause });
  }
}

async function* nvdFileSteps(json: unknown): AsyncGenerator<Step> {
  const head = readNvdHead(json);
  if (!head.ok) throw new SourceError(head.problem);
  const { vulnerabilities } = head.page;
  yield* nvdSteps(vulnerabilities, { total: vulnerabilities.length, cursorAt: () => null });
}

/** One record of any publisher. */
function readAny(json: unknown, name: string): RecordReading {
  const kind = recognise(json);
  if (kind === 'cve-record') return readCveRecord(json);
  if (kind === 'osv') return readOsvRecord(json);
  return { record: null, problem: `${name}: neither a record nor a list of a known publisher` };
}
