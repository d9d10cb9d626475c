// Files that the operator adds to the rulebook: read within limits, completely or not at all.
import { readFile, stat } from 'node:fs/promises';
import { StartError } from '@strata/http';
import { startErrorOf } from '../start-error.ts';

export interface OperatorFiles {
  /** As in "cannot read the fingerprints FILE". */
  readonly what: string;
  readonly setting: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** Total of all files of a setting. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** The files in order. Throws StartError for too many, and before reading one that is missing, too large or not a file. */
export async function* readFiles(
  names: readonly string[],
  kind: OperatorFiles,
): AsyncGenerator<{ readonly name: string; readonly text: string; readonly size: number }> {
  const { what, setting, maxFiles, maxFileBytes } = kind;
  if (names.length > maxFiles) throw new StartError(`${what} are more than ${maxFiles} files; see ${setting}`);
  let total = 0;
  for (const name of names) {
    const fail = unreadable(kind, name);
    const found = await stat(name).catch(fail);
    // A pipe would block, and a device may be endless.
    if (!found.isFile()) throw new StartError(`${name} is not a file; see ${setting}`);
    const { size } = found;
    if (size > maxFileBytes)
      throw new StartError(`${name} has ${size} bytes, more than ${maxFileBytes}; see ${setting}`);
    total += size;
    if (total > MAX_TOTAL_BYTES)
      throw new StartError(`${what} have more than ${MAX_TOTAL_BYTES} bytes together; see ${setting}`);
    yield { name, text: await readFile(name, 'utf8').catch(fail), size };
  }
}

/** Handles errors of the file system at a path: throws StartError for what the operator can fix. */
export function unreadable({ what, setting }: OperatorFiles, location: string): (cause: unknown) => never {
  return (cause) => {
    throw startErrorOf(cause, { doing: `read ${what} ${location}`, advice: `see ${setting}` });
  };
}
