// OpenSSL's versions: before 3.0 a letter marks patches; `za` … `zz` follow `z`.
import { preReleaseRank } from './dotted.ts';
import { END, LETTER, NUMBER, numberKey, numbersKey, PRE_RELEASE } from './key.ts';

const OPENSSL = /^v?(\d+)\.(\d+)(?:\.(\d+))?([a-z]{0,2})(?:[-_]([a-z]+)(\d*)[a-z0-9._-]*)?(?:\+.*)?$/;

/** The key of lower-case text; undefined if it is not an OpenSSL version. */
export function opensslKey(text: string): string | undefined {
  const match = OPENSSL.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', fix = '0', letters = '', word = '', number = ''] = match;
  const rank = preReleaseRank(word);
  // Other words (`-fips`) come from the packager and are not part of the version.
  const preRelease = rank === undefined ? '' : PRE_RELEASE + rank + NUMBER + numberKey(number);
  return numbersKey([major, minor, fix]) + (letters === '' ? '' : LETTER + letters) + preRelease + END;
}
