// Versions of Debian packages: Debian Policy §5.6.12, epoch:upstream-revision.
import { numberKey } from './key.ts';

const DEB = /^(?:(\d+):)?(\d[A-Za-z0-9.+~:-]*)$/;
const TILDE = '\x01';
const PART_END = '\x02';

/** The key of case-sensitive text; undefined if it is not a Debian version. */
export function debKey(text: string): string | undefined {
  const match = DEB.exec(text);
  if (match === null) return undefined;
  const [, epoch = '', rest = ''] = match;
  const hyphen = rest.lastIndexOf('-');
  const upstream = hyphen < 0 ? rest : rest.slice(0, hyphen);
  // A missing revision is revision 0.
  const revision = hyphen < 0 ? '' : rest.slice(hyphen + 1);
  return numberKey(epoch) + partKey(upstream) + partKey(revision);
}

/** Alternating pairs of non-digits and digits, either of which may be empty, with an empty pair at the end. */
function partKey(part: string): string {
  let key = '';
  for (const [pair, nonDigits = '', digits = ''] of part.matchAll(/([^0-9]*)([0-9]*)/g)) {
    if (pair !== '' || key === '') key += [...nonDigits].map(orderOf).join('') + PART_END + numberKey(digits);
  }
  return key + PART_END + numberKey('');
}

/** A tilde sorts before the end of the part, then letters, then everything else. */
function orderOf(character: string): string {
  if (character === '~') return TILDE;
  return /[A-Za-z]/.test(character) ? character : String.fromCharCode(character.charCodeAt(0) + 128);
}
