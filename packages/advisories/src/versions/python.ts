// Versions of Python packages: PEP 440, with the spellings that its appendix normalises.
import { END, numberKey, numbersKey } from './key.ts';

const PEP_440 = new RegExp(
  [
    /^v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)/,
    /(?:[-_.]?(?<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>\d*))?/,
    /(?:-(?<implicitPost>\d+)|[-_.]?(?<post>post|rev|r)[-_.]?(?<postNumber>\d*))?/,
    /(?:[-_.]?(?<dev>dev)[-_.]?(?<devNumber>\d*))?/,
    /(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/,
  ]
    .map(({ source }) => source)
    .join(''),
);
const PRE_RANKS: ReadonlyMap<string, string> = new Map([
  ['a', 'a'],
  ['alpha', 'a'],
  ['b', 'b'],
  ['beta', 'b'],
]);
const LOWEST = '\x01';
const NUMBERED = '\x02';
const HIGHEST = '\x03';

/** The key of lower-case text; undefined if it does not conform to PEP 440. */
export function pythonKey(text: string): string | undefined {
  const groups = PEP_440.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { epoch = '', release = '', pre, preNumber = '', implicitPost, post, postNumber = '', dev, local } = groups;
  const postDigits = implicitPost ?? (post === undefined ? undefined : postNumber);
  const devDigits = dev === undefined ? undefined : (groups.devNumber ?? '');
  return [
    numberKey(epoch) + numbersKey(release.split('.')) + END,
    preKey(pre, preNumber, postDigits === undefined && devDigits !== undefined),
    postDigits === undefined ? LOWEST : NUMBERED + numberKey(postDigits),
    devDigits === undefined ? HIGHEST : NUMBERED + numberKey(devDigits),
    local === undefined ? '' : local.split(/[-_.]/).map(localKey).join(''),
    LOWEST,
  ].join('');
}

/** A development release of the release itself, 1.0.dev1, comes before 1.0a1. */
function preKey(pre: string | undefined, digits: string, isDevelopment: boolean): string {
  if (pre === undefined) return isDevelopment ? LOWEST : HIGHEST;
  return NUMBERED + (PRE_RANKS.get(pre) ?? 'c') + numberKey(digits);
}

/** Local segments: words before numbers. */
function localKey(segment: string): string {
  return /^\d+$/.test(segment) ? HIGHEST + numberKey(segment) : NUMBERED + segment;
}
