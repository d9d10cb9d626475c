// Versions of RPM packages, as rpmvercmp orders them: epoch:version-release.
import { numberKey } from './key.ts';

const RPM = /^(?:(\d+):)?(\d[A-Za-z0-9._+~^]*)(?:-([A-Za-z0-9._+~^]+))?$/;
const SEGMENT = /(~)|(\^)|(\d+)|([A-Za-z]+)/g;
const TILDE = '\x01';
const PART_END = '\x02';
const CARET = '\x03';
const LETTERS = '\x04';
const DIGITS = '\x05';

/** The key of text in its own case; undefined where it is no version of RPM's. Without a release it is the lowest. */
export function rpmKey(text: string): string | undefined {
  const match = RPM.exec(text);
  if (match === null) return undefined;
  const [, epoch = '', version = '', release] = match;
  return numberKey(epoch) + partKey(version) + (release === undefined ? '' : partKey(release));
}

/** Runs of digits and of letters; what stands between them only keeps them apart. */
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
