// STRATA_ADDRESS_RANGES: files of published address ranges, or folders of them, read at the start.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { rangeMeanings } from '@strata/catalog';
import {
  AddressRangeError,
  type AddressRanges,
  loadAddressRanges,
  type Provider,
  type RangeFile,
} from '@strata/detect';
import { StartError } from '@strata/http';
import { startErrorOf } from '../start-error.ts';

/** The largest published file, Azure's service tags, has 5 MiB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 256;
/** Total of all files, which are in memory until all ranges are known. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
const ADVICE = 'see STRATA_ADDRESS_RANGES';

/** Undefined if no file is configured. Throws StartError: incomplete ranges would silently change the detection. */
export async function readAddressRanges(
  paths: readonly string[],
  catalog: readonly Provider[],
): Promise<AddressRanges | undefined> {
  if (paths.length === 0) return undefined;
  const names = (await Promise.all(paths.map(filesAt))).flat();
  if (names.length > MAX_FILES) throw new StartError(`more than ${MAX_FILES} files of address ranges; ${ADVICE}`);
  const files: RangeFile[] = [];
  let total = 0;
  for (const name of names) {
    const file = await readRangeFile(name);
    total += file.text.length;
    if (total > MAX_TOTAL_BYTES)
      throw new StartError(`address ranges of more than ${MAX_TOTAL_BYTES} bytes; ${ADVICE}`);
    files.push(file);
  }
  return loadFiles(files, catalog);
}

/** For the log: the read files and the providers in them. */
export function describeRanges({ files, size, products, sizeBytes }: AddressRanges): object {
  return { files, ranges: size, providers: [...new Set(products.map(({ provider }) => provider))], sizeBytes };
}

/** The path itself, or the files in the folder, without hidden files and subfolders. */
async function filesAt(location: string): Promise<string[]> {
  try {
    if (!(await stat(location)).isDirectory()) return [location];
    const entries = await readdir(location, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name);
    return names.sort().map((name) => path.join(location, name));
  } catch (cause) {
    throw startErrorOf(cause, { doing: `read the address ranges at ${location}`, advice: ADVICE });
  }
}

async function readRangeFile(file: string): Promise<RangeFile> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) {
      throw new StartError(`${file} has ${size} bytes, more than ${MAX_FILE_BYTES} of address ranges; ${ADVICE}`);
    }
    return { name: path.basename(file), text: await readFile(file, 'utf8') };
  } catch (cause) {
    throw startErrorOf(cause, { doing: `read the address ranges ${file}`, advice: ADVICE });
  }
}

function loadFiles(files: readonly RangeFile[], catalog: readonly Provider[]): AddressRanges {
  try {
    return loadAddressRanges(files, { meanings: rangeMeanings, catalog });
  } catch (cause) {
    if (!(cause instanceof AddressRangeError)) throw cause;
    throw new StartError(`${cause.message}\n${ADVICE}`, { cause });
  }
}
