// The rulebook of this installation: the catalog with the operator's additions.
import { entries } from '@strata/catalog';
import {
  type CompileOptions,
  compileRulebook,
  loadCatalog,
  type Provider,
  type Rulebook,
  SectorListError,
  sectorListOf,
} from '@strata/detect';
import { StartError } from '@strata/http';
import { CsvError, parse } from 'csv-parse/sync';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { readAddressRanges } from './address-range-files.ts';
import { loadFingerprints } from './fingerprint-files.ts';
import { type OperatorFiles, readFiles } from './operator-files.ts';

const SECTOR_LISTS: OperatorFiles = {
  what: 'the list of sectors',
  setting: 'STRATA_SECTORS',
  maxFiles: 1,
  // A million domains take 30 MB.
  maxFileBytes: 64 * 1024 * 1024,
};

/** Created once per process, for any number of services. */
const bundled: { catalog?: readonly Provider[]; rulebook?: Rulebook } = {};

function bundledCatalog(): readonly Provider[] {
  bundled.catalog ??= loadCatalog(entries);
  return bundled.catalog;
}

function bundledRulebook(): Rulebook {
  bundled.rulebook ??= compileRulebook(bundledCatalog());
  return bundled.rulebook;
}

/** Rejects with StartError that names the setting if a file is unusable. */
export async function openRulebook(
  settings: Partial<Pick<Config, 'sectorsFile' | 'addressRanges' | 'fingerprints'>>,
  catalogEntries: readonly unknown[] = entries,
  logger?: Logger,
): Promise<Rulebook> {
  const { sectorsFile, addressRanges = [], fingerprints = [] } = settings;
  const isBundled = catalogEntries === entries;
  const isPlain = sectorsFile === undefined && addressRanges.length === 0 && fingerprints.length === 0;
  if (isBundled && isPlain) return bundledRulebook();
  const catalog = isBundled ? bundledCatalog() : loadCatalog(catalogEntries);
  const options: CompileOptions = {
    ...(sectorsFile === undefined ? {} : { sectors: await readSectors(sectorsFile) }),
    ranges: await readAddressRanges(addressRanges, catalog),
  };
  if (fingerprints.length === 0) return compileRulebook(catalog, options);
  const startedAt = performance.now();
  const { set, sizeBytes } = await loadFingerprints(fingerprints);
  const rulebook = compileRulebook(catalog, { ...options, sets: set });
  const { technologies, usable, refusedPatterns, badEntries } = set.report;
  const counts = { technologies, usable, merged: rulebook.sets?.merges.length, refusedPatterns, badEntries };
  const ms = Math.round(performance.now() - startedAt);
  logger?.info({ ...counts, ms, mebibytes: Math.round(sizeBytes / 2 ** 20) }, 'community fingerprints loaded');
  return rulebook;
}

async function readSectors(file: string): Promise<NonNullable<CompileOptions['sectors']>> {
  const [list] = await Array.fromAsync(readFiles([file], SECTOR_LISTS));
  try {
    const rows: string[][] = parse(list?.text ?? '', {
      ...{ bom: true, comment: '#', relaxColumnCount: true, skipEmptyLines: true, trim: true },
    });
    return sectorListOf(rows);
  } catch (cause) {
    if (!(cause instanceof SectorListError || cause instanceof CsvError)) throw cause;
    throw new StartError(`cannot use the list of sectors ${file}: ${cause.message}`, { cause });
  }
}
