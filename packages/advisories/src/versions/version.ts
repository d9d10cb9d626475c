// Parses versions under a scheme, and compares them.
import type { VersionScheme } from '../advisory.ts';
import { debKey } from './deb.ts';
import { dottedKey } from './dotted.ts';
import { MAX_VERSION_LENGTH, type VersionKey } from './key.ts';
import { opensslKey } from './openssl.ts';
import { pythonKey } from './python.ts';
import { rpmKey } from './rpm.ts';
import { semverKey } from './semver.ts';

export { type DistributionVersion, distributionOf, withoutRevision } from './distribution.ts';
export type { VersionKey } from './key.ts';

/** A version under a scheme; undefined if it cannot be compared: `n/a`, `<1.0`, a commit id. */
export function readVersion(text: string, scheme: VersionScheme): VersionKey | undefined {
  if (text.length > MAX_VERSION_LENGTH) return undefined;
  // The only cast to VersionKey: each parser below returns the key of its scheme.
  return keyUnder(text.trim(), scheme) as VersionKey | undefined;
}

function keyUnder(text: string, scheme: VersionScheme): string | undefined {
  switch (scheme) {
    case 'dotted':
      return dottedKey(text.toLowerCase());
    case 'semver':
      return semverKey(text.toLowerCase());
    case 'openssl':
      return opensslKey(text.toLowerCase());
    case 'python':
      return pythonKey(text.toLowerCase());
    case 'deb':
      return debKey(text);
    case 'rpm':
      return rpmKey(text);
    default:
      throw new Error(`no scheme ${scheme satisfies never}`);
  }
}

/** Below zero if `a` is earlier, 0 if both are the same version. */
export function compareVersions(a: VersionKey, b: VersionKey): -1 | 0 | 1 {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
