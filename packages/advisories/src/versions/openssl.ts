// OpenSSL's versions: before 3.0 a letter tells patches apart, after `z` come `za` … `zz`.
import { preReleaseRank } from './dotted.ts';
import { END, LETTER, NUMBER, numberKey, numbersKey, PRE_RELEASE } from './key.ts';

const OPENSSL = /^v?(\d+)\.(\d+)(?:\.(\d+))?([a-z]{0,2})(?:[-_]([a-z]+)(\d*)[a-z0-9._-]*)?(?:\+.*)?$/;

/** The key of lower-case text; undefined where it is none of OpenSSL's. */
export function opensslKey(text: string): string | undefined {
  const match = OPENSSL.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', fix = '0', letters = '', word = '', number = ''] = match;
  const rank = preReleaseRank(word);
  // Other words are of whoever built it (`-fips`), not of the version.
  const preRelease = rank === undefined ? '' : PRE_RELEASE + rank + NUMBER + numberKey(number);
  return numbersKey([major, minor, fix]) + (letters === '' ? '' : LETTER + letters) + preRelease + END;
}
