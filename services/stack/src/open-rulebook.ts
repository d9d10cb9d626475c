// The rulebook as this installation has it: the catalog, and what the operator adds to it.
import { open } from 'node:fs/promises';
import { entries } from '@strata/catalog';
import {
  type CompileOptions,
  compileRulebook,
  loadCatalog,
  type Rulebook,
  SectorListError,
  sectorListOf,
} from '@strata/detect';
import { CsvError, parse } from 'csv-parse/sync';
import { readAddressRanges } from './address-range-files.ts';
import type { Config } from './config.ts';
import { StartError, startErrorOf } from './start-error.ts';

/** A million domains are 30 MB. */
const MOST_LIST_BYTES = 64 * 1024 * 1024;

/** Rejects with StartError that names the setting where a file cannot be used. */
export async function openRulebook(
  { sectorsFile, addressRanges = [] }: Pick<Config, 'sectorsFile'> & Partial<Pick<Config, 'addressRanges'>>,
  catalogEntries: readonly unknown[] = entries,
): Promise<Rulebook> {
  const catalog = loadCatalog(catalogEntries);
  const options: CompileOptions = {
    ...(sectorsFile === undefined ? {} : { sectors: await readSectors(sectorsFile) }),
    ranges: await readAddressRanges(addressRanges, catalog),
  };
  return compileRulebook(catalog, options);
}

async function readSectors(file: string): Promise<NonNullable<CompileOptions['sectors']>> {
  try {
    const rows: string[][] = parse(await readBounded(file), {
      ...{ bom: true, comment: '#', relaxColumnCount: true, skipEmptyLines: true, trim: true },
    });
    return sectorListOf(rows);
  } catch (cause) {
    if (cause instanceof SectorListError || cause instanceof CsvError)
      throw new StartError(`cannot use the list of sectors ${file}: ${cause.message}`, { cause });
    throw startErrorOf(cause, { doing: `read the list of sectors ${file}`, advice: 'see STRATA_SECTORS' });
  }
}

async function readBounded(file: string): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  if (size > MOST_LIST_BYTES) throw new StartError(`${file} has ${size} bytes, more than ${MOST_LIST_BYTES}`);
  return handle.readFile('utf8');
}
