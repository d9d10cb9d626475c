// Versions of RPM packages in the order of rpmvercmp: epoch:version-release.
import { numberKey } from './key.ts';

const RPM = /^(?:(\d+):)?(\d[A-Za-z0-9._+~^]*)(?:-([A-Za-z0-9._+~^]+))?$/;
const SEGMENT = /(~)|(\^)|(\d+)|([A-Za-z]+)/g;
const TILDE = '\x01';
const PART_END = '\x02';
const CARET = '\x03';
const LETTERS = '\x04';
const DIGITS = '\x05';

/** The key of case-sensitive text; undefined if it is not an RPM version. A missing release is the lowest. */
export function rpmKey(text: string): string | undefined {
  const match = RPM.exec(text);
  if (match === null) return undefined;
  const [, epoch = '', version = '', release] = match;
  return numberKey(epoch) + partKey(version) + (release === undefined ? '' : partKey(release));
}

/** Runs of digits and of letters; other characters only separate them. */
function partKey(part: string): string {
  let key = '';
  for (const [, tilde, caret, digits, letters] of part.matchAll(SEGMENT)) {
    if (tilde !== undefined) key += TILDE;
    else if (caret !== undefined) key += CARET;
    else if (digits !== undefined) key += DIGITS + numberKey(digits);
    else key += LETTERS + letters;
  }
  return key + PART_END;
}
