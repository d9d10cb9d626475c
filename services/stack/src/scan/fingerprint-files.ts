// Reads files of community fingerprint sets within size limits; @strata/detect parses their content.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type FingerprintSet, readFingerprints, type SetFile } from '@strata/detect';
import { StartError } from '@strata/http';
import { startErrorOf } from '../start-error.ts';

const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 1_000;
const TECHNOLOGIES = 'technologies';

export interface FingerprintFiles {
  readonly files: readonly SetFile[];
  readonly sizeBytes: number;
}

/**
 * Reads every path: a file, or a folder with `technologies/*.json` or `*.json`, and `categories.json` beside them. Throws StartError
 * with the file name if one is missing, too large or not JSON. Checks the size before reading.
 */
export async function readFingerprintFiles(paths: readonly string[]): Promise<FingerprintFiles> {
  const names = (await Promise.all(paths.map(namesAt))).flat();
  if (names.length > MAX_FILES)
    throw new StartError(`the fingerprints are more than ${MAX_FILES} files; see STRATA_FINGERPRINTS`);
  const files: SetFile[] = [];
  let sizeBytes = 0;
  for (const name of names) {
    sizeBytes += await sizeOf(name);
    if (sizeBytes > MAX_TOTAL_BYTES) {
      throw new StartError(
        `the fingerprints are more than ${MAX_TOTAL_BYTES / 2 ** 20} MiB together; see STRATA_FINGERPRINTS`,
      );
    }
    files.push({ name, content: await readJson(name) });
  }
  return { files, sizeBytes };
}

async function namesAt(location: string): Promise<readonly string[]> {
  const found = await stat(location).catch((cause: unknown) => {
    throw startError(location, cause);
  });
  if (!found.isDirectory()) return [location];
  const inFolder = await jsonIn(location);
  const below = await stat(path.join(location, TECHNOLOGIES)).catch(() => null);
  const names = below?.isDirectory()
    ? [
        ...inFolder.filter((name) => path.basename(name) === 'categories.json'),
        ...(await jsonIn(path.join(location, TECHNOLOGIES))),
      ]
    : inFolder;
  if (names.length === 0)
    throw new StartError(`the folder ${location} has no fingerprints: no *.json, no ${TECHNOLOGIES}/*.json`);
  return names;
}

/** Sorted, so that duplicate entries resolve the same on every machine. */
async function jsonIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    throw startError(folder, cause);
  });
  return entries
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => path.join(folder, name));
}

async function sizeOf(name: string): Promise<number> {
  const found = await stat(name).catch((cause: unknown) => {
    throw startError(name, cause);
  });
  // A pipe would block, and a device may be endless.
  if (!found.isFile()) throw new StartError(`the fingerprints ${name} are not a file`);
  const { size } = found;
  if (size <= MAX_FILE_BYTES) return size;
  throw new StartError(`the fingerprints ${name} are larger than ${MAX_FILE_BYTES / 2 ** 20} MiB`);
}

async function readJson(name: string): Promise<unknown> {
  const text = await readFile(name, 'utf8').catch((cause: unknown) => {
    throw startError(name, cause);
  });
  try {
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (cause) {
    throw new StartError(`the fingerprints ${name} are not JSON`, { cause });
  }
}

function startError(name: string, cause: unknown): unknown {
  return startErrorOf(cause, { doing: `read the fingerprints ${name}`, advice: 'see STRATA_FINGERPRINTS' });
}

/** Throws StartError if a path is wrong or no entry is usable. */
export async function loadFingerprints(
  paths: readonly string[],
): Promise<{ readonly set: FingerprintSet; readonly sizeBytes: number }> {
  const { files, sizeBytes } = await readFingerprintFiles(paths);
  const set = readFingerprints(files);
  if (set.report.usable > 0) return { set, sizeBytes };
  const [first] = set.report.problems;
  const why = first
    ? `: ${first.file}: ${withoutControls([first.technology, first.field, first.problem].filter(Boolean).join(' '))}`
    : '';
  throw new StartError(`the fingerprints in ${paths.join(', ')} contain no usable technology${why}`);
}

/** Names are untrusted, and the message is printed to a terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\ufffd');
}
