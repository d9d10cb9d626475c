// A folder of the publishers' own files, for machines without a network: what each file is shows in what it holds.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  type RecordReading,
  readCveRecord,
  readNvdHead,
  readNvdRecord,
  readOsvRecord,
  recognise,
} from '@strata/advisories';
import { z } from 'zod';
import { archiveSteps } from './archive-steps.ts';
import { epssSteps } from './epss.ts';
import { kevStep } from './kev.ts';
import { type AdvisorySource, RecordBatch, SourceError, type Step } from './source.ts';

export interface FolderOptions {
  readonly directory: string;
  readonly everyMs: number;
}

/** By path below the folder, what each file was like when it was read. */
const Cursor = z.object({ files: z.record(z.string(), z.string()) });
type Cursor = z.infer<typeof Cursor>;

const KNOWN_FILE = /\.(?:json|json\.gz|zip|csv|csv\.gz)$/i;
const MAX_FILES = 1_000_000;
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const RECORDS_AT_ONCE = 200;

export function folderSource({ directory, everyMs }: FolderOptions): AdvisorySource {
  return {
    name: 'folder',
    everyMs,
    async *sync(stored, { signal }) {
      let cursor: Cursor = Cursor.safeParse(stored).data ?? { files: {} };
      for (const { file, mark } of await filesIn(directory)) {
        signal.throwIfAborted();
        if (cursor.files[file] === mark) continue;
        // A file that was cut off is read again from its beginning: what is in it changes nothing the second time.
        const before = cursor;
        for await (const step of readableSteps(path.join(directory, file), signal)) yield { ...step, cursor: before };
        cursor = { files: { ...cursor.files, [file]: mark } };
        yield new RecordBatch().step(cursor);
      }
      return cursor;
    },
  };
}

/** In order of their names, so that a year's file is read before the changes of it. */
async function filesIn(directory: string) {
  const found: { readonly file: string; readonly mark: string }[] = [];
  const names = await readdir(directory, { recursive: true }).catch((cause: unknown) => {
    throw new SourceError(`the folder ${directory} cannot be read`, { cause });
  });
  for (const file of names.filter((name) => KNOWN_FILE.test(name)).sort()) {
    const { size, mtimeMs, isFile } = await stat(path.join(directory, file)).then((stats) => ({
      size: stats.size,
      mtimeMs: stats.mtimeMs,
      isFile: stats.isFile(),
    }));
    if (!isFile) continue;
    found.push({ file, mark: `${size} ${Math.round(mtimeMs)}` });
    if (found.length > MAX_FILES) throw new SourceError(`the folder ${directory} holds more than ${MAX_FILES} files`);
  }
  return found;
}

/** A file that cannot be read is one that is skipped; the others are read. */
async function* readableSteps(file: string, signal: AbortSignal): AsyncGenerator<Step> {
  try {
    yield* fileSteps(file, signal);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const batch = new RecordBatch();
    batch.add({ record: null, problem: `${path.basename(file)}: ${error.message}` });
    yield batch.step(null);
  }
}

async function* fileSteps(file: string, signal: AbortSignal): AsyncGenerator<Step> {
  const name = path.basename(file);
  if (/\.csv(?:\.gz)?$/i.test(name)) {
    yield* epssSteps(file, null);
  } else if (/\.zip$/i.test(name)) {
    yield* archiveSteps(file, { read: readAny, isWanted: isJson, from: 0, place: () => null, signal });
  } else {
    yield* documentSteps(await readDocument(file), name);
  }
}

const isJson = (name: string): boolean => name.toLowerCase().endsWith('.json');

async function readDocument(file: string): Promise<unknown> {
  const name = path.basename(file);
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new SourceError(`${name} is longer than ${MAX_FILE_BYTES} bytes`);
  try {
    const bytes = await readFile(file);
    const body = /\.gz$/i.test(name) ? await promisify(gunzip)(bytes, { maxOutputLength: MAX_FILE_BYTES }) : bytes;
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error;
    return undefined;
  }
}

async function* documentSteps(json: unknown, name: string): AsyncGenerator<Step> {
  switch (json === undefined ? 'unknown' : recognise(json)) {
    case 'kev':
      yield kevStep(json, name, null);
      break;
    case 'nvd':
      yield* nvdFileSteps(json, name);
      break;
    default: {
      const batch = new RecordBatch();
      batch.add(readAny(json));
      yield batch.step(null);
    }
  }
}

async function* nvdFileSteps(json: unknown, name: string): AsyncGenerator<Step> {
  const head = readNvdHead(json);
  if (!head.ok) throw new SourceError(`${name}: ${head.problem}`);
  const { vulnerabilities } = head.page;
  for (let from = 0; from < vulnerabilities.length; from += RECORDS_AT_ONCE) {
    const batch = new RecordBatch();
    for (const each of vulnerabilities.slice(from, from + RECORDS_AT_ONCE)) batch.add(readNvdRecord(each));
    yield batch.step(null, vulnerabilities.length);
  }
}

/** One record, whoever's. */
function readAny(json: unknown): RecordReading {
  const kind = recognise(json);
  if (kind === 'cve-record') return readCveRecord(json);
  if (kind === 'osv') return readOsvRecord(json);
  return { record: null, problem: 'neither a record nor a list of a known publisher' };
}
