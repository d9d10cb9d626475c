// Ranges of versions, compared as intervals of version keys, and their texts.
import type { ProductKey, VersionRange, VersionScheme } from '../advisory.ts';
import { END, LETTER, PRE_RELEASE } from './key.ts';
import { readVersion } from './version.ts';

/** Keys from `low`, inclusive, to `high`, exclusive. */
export interface Interval {
  readonly low: string;
  readonly high: string;
}

/** Before and after every key. */
const LOWEST = '';
const HIGHEST = '\xff';
/** Appended to a key, makes the next key in order. */
const NEXT = '\0';
/** A longer list would not be readable. */
const MAX_RANGES_IN_TEXT = 8;

/** Whether an interval contains all of another; the interval of a version is contained if the version is. */
export function covers(outer: Interval, inner: Interval): boolean {
  return outer.low <= inner.low && inner.high <= outer.high;
}

export function overlaps(a: Interval, b: Interval): boolean {
  return a.low < b.high && b.low < a.high;
}

/** Products whose updates are patches, 2.4.4-p9 of 2.4.4: a bound at a version excludes its updates. */
const PATCHED_BY_UPDATES: ReadonlySet<ProductKey> = new Set([
  ...['cpe:adobe:commerce', 'cpe:adobe:magento', 'cpe:adobe:magento_open_source', 'cpe:magento:magento'],
  ...['cna:adobe/adobe commerce', 'cna:adobe/commerce', 'cna:adobe/magento commerce', 'cna:adobe/magento open source'],
  ...['pkg:composer/magento/community-edition', 'pkg:composer/magento/project-community-edition'],
]);

/** The interval of a range; undefined if a bound cannot be parsed. */
export function intervalOf(
  { from, to }: VersionRange,
  scheme: VersionScheme,
  products: readonly ProductKey[] = [],
): Interval | undefined {
  // OSV's `0` is before everything, including pre-releases of 0.0; the CVE list's `*` is after everything.
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

/**
 * The end just after an included version. Usually it includes the updates: publishers write `<= 8.7` for OpenSSH's
 * 8.7p1.
 */
function through(key: string, scheme: VersionScheme, products: readonly ProductKey[]): string {
  const hasUpdates = scheme === 'dotted' && !products.some((product) => PATCHED_BY_UPDATES.has(product));
  return hasUpdates ? flat(baseOf(key), LETTER) : flat(key, NEXT);
}

/** The interval of exactly one version; undefined if it cannot be parsed. */
export function intervalOfVersion(version: string, scheme: VersionScheme): Interval | undefined {
  const key = readVersion(version, scheme);
  return key === undefined ? undefined : { low: key, high: flat(key, NEXT) };
}

/** The interval of a version that a server shows; a truncated one covers every version with that beginning. */
export function intervalAsShown(version: string, scheme: VersionScheme, isCut: boolean): Interval | undefined {
  const own = intervalOfVersion(version, scheme);
  if (own === undefined || !isCut) return own;
  const next = readVersion(nextOf(version), scheme);
  return next === undefined ? undefined : { low: own.low, high: next };
}

/** `2.5` for `2.4`. */
function nextOf(version: string): string {
  const last = version.lastIndexOf('.') + 1;
  return `${version.slice(0, last)}${BigInt(version.slice(last)) + 1n}`;
}

/** A version with all its pre-releases and updates, dotted or of OpenSSL; undefined if it cannot be parsed. */
export function intervalOfUpdates(version: string, scheme: 'dotted' | 'openssl'): Interval | undefined {
  const key = readVersion(version, scheme);
  return key === undefined ? undefined : { low: flat(baseOf(key), PRE_RELEASE), high: flat(baseOf(key), LETTER) };
}

/** Joined instead of concatenated: millions of intervals are stored, and a concatenation keeps its operands alive. */
function flat(...parts: readonly string[]): string {
  return parts.join('');
}

/** Drops an array's growth capacity, for arrays that are stored by the million. */
export function exact<T>(items: readonly T[]): readonly T[] {
  return items.slice();
}

function baseOf(key: string): string {
  return key.endsWith(END) ? key.slice(0, -1) : key;
}

/** `>= 1.18.0, < 1.25.3`; `all versions` without bounds; `= 1.2.3` if both bounds are equal. */
export function rangeText({ from, to }: VersionRange): string {
  if (from && to && from.version === to.version && from.isInclusive && to.isInclusive) return versionText(to.version);
  const words: string[] = [];
  if (from && !(from.version === '0' && from.isInclusive)) {
    words.push(`${from.isInclusive ? '>=' : '>'} ${from.version}`);
  }
  if (to && to.version !== '*') words.push(`${to.isInclusive ? '<=' : '<'} ${to.version}`);
  return words.length === 0 ? 'all versions' : words.join(', ');
}

export function versionText(version: string): string {
  return `= ${version}`;
}

/** Several ranges as alternatives; null without ranges. */
export function joinRanges(words: readonly string[]): string | null {
  const [only] = words;
  if (words.length === 1 && only !== undefined) return only;
  const distinct = [...new Set(words)];
  if (distinct.length === 0) return null;
  const shown = distinct.slice(0, MAX_RANGES_IN_TEXT).join(' or ');
  const more = distinct.length - MAX_RANGES_IN_TEXT;
  return more > 0 ? `${shown} or ${more} more` : shown;
}
