// Ranges of versions, compared as intervals of version keys, and told in words.
import type { ProductKey, VersionRange, VersionScheme } from '../advisory.ts';
import { END, LETTER, PRE_RELEASE } from './key.ts';
import { readVersion } from './version.ts';

/** Keys from `low` on, up to but without `high`. */
export interface Interval {
  readonly low: string;
  readonly high: string;
}

/** Before and after every key. */
const LOWEST = '';
const HIGHEST = '\xff';
/** Put at the end of a key it makes the text that comes next. */
const NEXT = '\0';
/** More of them would not be read. */
const MAX_RANGES_IN_WORDS = 8;

/** Whether all of one interval lies in another; a version's own interval lies there where the version does. */
export function covers(outer: Interval, inner: Interval): boolean {
  return outer.low <= inner.low && inner.high <= outer.high;
}

export function overlaps(a: Interval, b: Interval): boolean {
  return a.low < b.high && b.low < a.high;
}

/** Their updates are mends, 2.4.4-p9 of 2.4.4: what is said of a version is not said of those. */
const MENDED_BY_UPDATES: ReadonlySet<ProductKey> = new Set([
  ...['cpe:adobe:commerce', 'cpe:adobe:magento', 'cpe:adobe:magento_open_source', 'cpe:magento:magento'],
  ...['cna:adobe/adobe commerce', 'cna:adobe/commerce', 'cna:adobe/magento commerce', 'cna:adobe/magento open source'],
  ...['pkg:composer/magento/community-edition', 'pkg:composer/magento/project-community-edition'],
]);

/** The interval of a range; undefined where a bound cannot be read. */
export function intervalOf(
  { from, to }: VersionRange,
  scheme: VersionScheme,
  products: readonly ProductKey[] = [],
): Interval | undefined {
  // OSV's `0` is before everything, pre-releases of 0.0 too; the CVE list's `*` is after everything.
  const isOpenBelow = from === undefined || (from.version === '0' && from.isInclusive);
  const isOpenAbove = to === undefined || to.version === '*';
  const low = isOpenBelow ? LOWEST : readVersion(from.version, scheme);
  const high = isOpenAbove ? HIGHEST : readVersion(to.version, scheme);
  if (low === undefined || high === undefined) return undefined;
  return {
    low: isOpenBelow || from.isInclusive ? low : flat(low, NEXT),
    high: isOpenAbove || !to.isInclusive ? high : through(high, scheme, products),
  };
}

/** Just after a version that is included. Mostly its updates are: publishers say `<= 8.7` of OpenSSH's 8.7p1. */
function through(key: string, scheme: VersionScheme, products: readonly ProductKey[]): string {
  const hasUpdates = scheme === 'dotted' && !products.some((product) => MENDED_BY_UPDATES.has(product));
  return hasUpdates ? flat(baseOf(key), LETTER) : flat(key, NEXT);
}

/** One version and no other; undefined where it cannot be read. */
export function intervalOfVersion(version: string, scheme: VersionScheme): Interval | undefined {
  const key = readVersion(version, scheme);
  return key === undefined ? undefined : { low: key, high: flat(key, NEXT) };
}

/** A version as a server shows it; one that is cut short is every version that begins so. */
export function intervalAsShown(version: string, scheme: VersionScheme, isCut: boolean): Interval | undefined {
  const own = intervalOfVersion(version, scheme);
  if (own === undefined || !isCut) return own;
  const next = readVersion(nextOf(version), scheme);
  return next === undefined ? undefined : { low: own.low, high: next };
}

/** `2.5` of `2.4`. */
function nextOf(version: string): string {
  const last = version.lastIndexOf('.') + 1;
  return `${version.slice(0, last)}${BigInt(version.slice(last)) + 1n}`;
}

/** A version with all its pre-releases and updates, dotted or of OpenSSL; undefined where it cannot be read. */
export function intervalOfUpdates(version: string, scheme: 'dotted' | 'openssl'): Interval | undefined {
  const key = readVersion(version, scheme);
  return key === undefined ? undefined : { low: flat(baseOf(key), PRE_RELEASE), high: flat(baseOf(key), LETTER) };
}

/** Joined, not added: intervals are kept by the million, and a sum of strings keeps what it was made of. */
function flat(...parts: readonly string[]): string {
  return parts.join('');
}

/** Without the room that an array keeps for growing, for arrays that are kept by the million. */
export function exact<T>(items: readonly T[]): readonly T[] {
  return items.slice();
}

function baseOf(key: string): string {
  return key.endsWith(END) ? key.slice(0, -1) : key;
}

/** `>= 1.18.0, < 1.25.3`; `all versions` without bounds; `= 1.2.3` where both bounds are one. */
export function rangeInWords({ from, to }: VersionRange): string {
  if (from && to && from.version === to.version && from.isInclusive && to.isInclusive)
    return versionInWords(to.version);
  const words: string[] = [];
  if (from && !(from.version === '0' && from.isInclusive)) {
    words.push(`${from.isInclusive ? '>=' : '>'} ${from.version}`);
  }
  if (to && to.version !== '*') words.push(`${to.isInclusive ? '<=' : '<'} ${to.version}`);
  return words.length === 0 ? 'all versions' : words.join(', ');
}

export function versionInWords(version: string): string {
  return `= ${version}`;
}

/** Several ranges as alternatives; null where there are none. */
export function joinWords(words: readonly string[]): string | null {
  const [only] = words;
  if (words.length === 1 && only !== undefined) return only;
  const distinct = [...new Set(words)];
  if (distinct.length === 0) return null;
  const shown = distinct.slice(0, MAX_RANGES_IN_WORDS).join(' or ');
  const more = distinct.length - MAX_RANGES_IN_WORDS;
  return more > 0 ? `${shown} or ${more} more` : shown;
}
