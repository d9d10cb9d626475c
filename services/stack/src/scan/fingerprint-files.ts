// Reads files of community fingerprint sets within size limits; @strata/detect parses their content.

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type FingerprintSet, readFingerprints, type SetFile } from '@strata/detect';
import { StartError } from '@strata/http';
import { type OperatorFiles, readFiles, unreadable } from './operator-files.ts';

const FINGERPRINT_FILES: OperatorFiles = {
  what: 'the fingerprints',
  setting: 'STRATA_FINGERPRINTS',
  maxFiles: 1_000,
  maxFileBytes: 32 * 1024 * 1024,
};
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
  const files: SetFile[] = [];
  let sizeBytes = 0;
  for await (const { name, text, size } of readFiles(names, FINGERPRINT_FILES)) {
    files.push({ name, content: parseJson(name, text) });
    sizeBytes += size;
  }
  return { files, sizeBytes };
}

async function namesAt(location: string): Promise<readonly string[]> {
  const found = await stat(location).catch(unreadable(FINGERPRINT_FILES, location));
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
  const entries = await readdir(folder).catch(unreadable(FINGERPRINT_FILES, folder));
  return entries
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => path.join(folder, name));
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (cause) {
    throw new StartError(`the fingerprints ${name} are not JSON`, { cause });
  }
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
