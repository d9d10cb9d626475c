// A community set for tests: invented technologies that use every part of the format, over the test catalog's providers.
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readFingerprints } from '../fingerprints/read/read-set.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook, type Rulebook } from '../rulebook/rulebook.ts';
import { testEntries } from './rulebook-of.ts';

type Entries = Readonly<Record<string, object>>;

/** Entries as a set has them: each with a website of its own unless it names one. */
export function withWebsites(entries: Entries): Record<string, object> {
  const hostOf = (name: string) => `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.example`;
  const complete = ([name, entry]: [string, object]) => [name, { website: `https://${hostOf(name)}`, ...entry }];
  return Object.fromEntries(Object.entries(entries).map(complete));
}

export const testCatalog = loadCatalog(testEntries);

/** The test catalog with a set of such entries beside it. */
export function rulebookWith(entries: Entries): Rulebook {
  const content = withWebsites(entries);
  return compileRulebook(testCatalog, { sets: readFingerprints([{ name: 'technologies/t.json', content }]) });
}

/** As a file of `technologies/` has it. */
export const communityTechnologies: Readonly<Record<string, object>> = withWebsites(
  Object.assign({}, ...Object.values(casesOf<Readonly<Record<string, Entries>>>('detect', 'community technologies'))),
);
