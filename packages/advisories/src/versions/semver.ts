// Semantic versions (semver.org, §11), parsed by npm's parser; other text is parsed as dotted.
import semver from 'semver';
import { dottedKey } from './dotted.ts';
import { END, numberKey, numbersKey, PRE_RELEASE } from './key.ts';

const NUMERIC = '\x02';
const TEXT = '\x03';
const NO_MORE = '\x01';

/** The key of lower-case text, comparable with dotted keys; undefined if it is not a version. */
export function semverKey(text: string): string | undefined {
  const version = semver.parse(text, { loose: true });
  if (version === null) return dottedKey(text);
  const release = numbersKey([version.major, version.minor, version.patch].map(String));
  if (version.prerelease.length === 0) return release + END;
  return release + PRE_RELEASE + version.prerelease.map(identifierKey).join('') + NO_MORE;
}

/** §11.4: numbers before text, fewer identifiers before more. */
function identifierKey(identifier: string | number): string {
  return typeof identifier === 'number' ? NUMERIC + numberKey(String(identifier)) : TEXT + identifier;
}
