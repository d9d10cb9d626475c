// STRATA_ADDRESS_RANGES: files of published address ranges, or folders of them, read at the start.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { AddressRangeError, type AddressRanges, loadAddressRanges, type RangeFile } from '@strata/detect';
import { StartError } from '@strata/http';
import type { Catalog } from '../catalog/catalog.ts';
import { type OperatorFiles, readFiles, unreadable } from './operator-files.ts';

const RANGE_FILES: OperatorFiles = {
  what: 'the address ranges',
  setting: 'STRATA_ADDRESS_RANGES',
  maxFiles: 256,
  // The largest published file, Azure's service tags, has 5 MiB.
  maxFileBytes: 32 * 1024 * 1024,
};

/** Undefined if no file is configured. Throws StartError: incomplete ranges would silently change the detection. */
export async function readAddressRanges(
  paths: readonly string[],
  catalog: Pick<Catalog, 'providers' | 'rangeMeanings'>,
): Promise<AddressRanges | undefined> {
  if (paths.length === 0) return undefined;
  const names = (await Promise.all(paths.map(filesAt))).flat();
  const files: RangeFile[] = [];
  for await (const { name, text } of readFiles(names, RANGE_FILES)) files.push({ name: path.basename(name), text });
  return loadFiles(files, catalog);
}

/** For the log: the read files and the providers in them. */
export function describeRanges({ files, size, products, sizeBytes }: AddressRanges): object {
  return { files, ranges: size, providers: [...new Set(products.map(({ provider }) => provider))], sizeBytes };
}

/** The path itself, or the files in the folder, without hidden files and subfolders. */
async function filesAt(location: string): Promise<string[]> {
  const fail = unreadable(RANGE_FILES, location);
  if (!(await stat(location).catch(fail)).isDirectory()) return [location];
  const entries = await readdir(location, { withFileTypes: true }).catch(fail);
  const names = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  return names.sort().map((name) => path.join(location, name));
}

function loadFiles(
  files: readonly RangeFile[],
  { providers, rangeMeanings: meanings }: Pick<Catalog, 'providers' | 'rangeMeanings'>,
): AddressRanges {
  try {
    return loadAddressRanges(files, { meanings, catalog: providers });
  } catch (cause) {
    if (!(cause instanceof AddressRangeError)) throw cause;
    throw new StartError(`${cause.message}\nsee ${RANGE_FILES.setting}`, { cause });
  }
}
