// The rulebook of this installation: the catalog with the operator's additions.
import {
  type CompileOptions,
  compileRulebook,
  loadCatalog,
  type Rulebook,
  SectorListError,
  sectorListOf,
} from '@strata/detect';
import { StartError } from '@strata/http';
import { CsvError, parse } from 'csv-parse/sync';
import type { Logger } from 'pino';
import { bundledCatalog, type Catalog, openCatalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import type { Store } from '../store/index.ts';
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
let bundled: Rulebook | undefined;

function bundledRulebook(): Rulebook {
  bundled ??= compileRulebook(bundledCatalog().providers);
  return bundled;
}

interface Rules {
  readonly catalog: Catalog;
  readonly rulebook: Rulebook;
}

/**
 * The catalog of the processes of a store, or that of the world, with the operator's additions. A release that does not fit
 * these, because it lacks a provider that they name, is logged, and the bundled catalog is used. Rejects as `openRulebook`.
 */
export async function openStoredRulebook(
  store: Pick<Store, 'texts'>,
  config: Config,
  { catalogEntries, logger }: Pick<World, 'catalogEntries'> & { readonly logger?: Logger },
): Promise<Rules> {
  const withRules = async (catalog: Catalog): Promise<Rules> => ({
    catalog,
    rulebook: await openRulebook(config, catalog, logger),
  });
  if (catalogEntries) return withRules({ ...bundledCatalog(), providers: loadCatalog(catalogEntries) });
  const catalog = await openCatalog(store, { verifiers: config.release?.verifiers, logger });
  const { date, source, storedHead } = catalog;
  if (source === 'bundled') return withRules(catalog);
  return withRules(catalog).catch((error: unknown) => {
    logger?.error({ date, source, err: error }, 'the stored catalog release is not used');
    return withRules({ ...bundledCatalog(), storedHead });
  });
}

/** Rejects with StartError that names the setting if a file is unusable. */
export async function openRulebook(
  settings: Partial<Pick<Config, 'sectorsFile' | 'addressRanges' | 'fingerprints'>>,
  catalog: Pick<Catalog, 'providers' | 'rangeMeanings'> = bundledCatalog(),
  logger?: Logger,
): Promise<Rulebook> {
  const { sectorsFile, addressRanges = [], fingerprints = [] } = settings;
  const isPlain = sectorsFile === undefined && addressRanges.length === 0 && fingerprints.length === 0;
  const { providers } = catalog;
  if (providers === bundledCatalog().providers && isPlain) return bundledRulebook();
  const options: CompileOptions = {
    ...(sectorsFile === undefined ? {} : { sectors: await readSectors(sectorsFile) }),
    ranges: await readAddressRanges(addressRanges, catalog),
  };
  if (fingerprints.length === 0) return compileRulebook(providers, options);
  const startedAt = performance.now();
  const { set, sizeBytes } = await loadFingerprints(fingerprints);
  const rulebook = compileRulebook(providers, { ...options, sets: set });
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
