// The rulebook that the settings ask for: the catalog, and the community sets beside it.
import { entries } from '@strata/catalog';
import { compileRulebook, type FingerprintSet, loadCatalog, type Rulebook, readFingerprints } from '@strata/detect';
import type { Logger } from 'pino';
import type { World } from './app.ts';
import type { Config } from './config.ts';
import { readFingerprintFiles } from './fingerprint-files.ts';
import { StartError } from './start-error.ts';

/** Compiles the catalog with the sets of `STRATA_FINGERPRINTS`; throws StartError where a set cannot be used at all. */
export async function openRulebook(
  { fingerprints }: Pick<Config, 'fingerprints'>,
  { catalogEntries = entries }: Pick<World, 'catalogEntries'> = {},
  logger?: Logger,
): Promise<Rulebook> {
  const catalog = loadCatalog(catalogEntries);
  if (fingerprints.length === 0) return compileRulebook(catalog);
  const startedAt = performance.now();
  const { set, sizeBytes } = await loadFingerprints(fingerprints);
  const rulebook = compileRulebook(catalog, { sets: set });
  const { technologies, usable, refusedPatterns, badEntries } = set.report;
  const counts = { technologies, usable, merged: rulebook.sets?.merged, refusedPatterns, badEntries };
  const ms = Math.round(performance.now() - startedAt);
  logger?.info({ ...counts, ms, mebibytes: Math.round(sizeBytes / 2 ** 20) }, 'community fingerprints loaded');
  return rulebook;
}

/** Reads sets from files and folders; throws StartError where a path is wrong or nothing in it can be used. */
export async function loadFingerprints(
  paths: readonly string[],
): Promise<{ readonly set: FingerprintSet; readonly sizeBytes: number }> {
  const { files, sizeBytes } = await readFingerprintFiles(paths);
  const set = readFingerprints(files);
  if (set.report.usable > 0) return { set, sizeBytes };
  const [first] = set.report.problems;
  const why = first
    ? `: ${first.file}: ${[first.technology, first.field, first.problem].filter(Boolean).join(' ')}`
    : '';
  throw new StartError(`no technology of the fingerprints ${paths.join(', ')} can be used${why}`);
}
