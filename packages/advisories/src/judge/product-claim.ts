// A publisher's ranges of one product, compiled, and judged for one observed product.
import type { ProductClaim, ProductKey, VersionRange, VersionScheme } from '../advisory.ts';
import {
  exact,
  type Interval,
  intervalOf,
  intervalOfVersion,
  overlaps,
  rangeInWords,
  versionInWords,
} from '../versions/ranges.ts';
import { holdsOn, needOfWords } from './platform.ts';
import { inIntervals, type Seen, versionUnder } from './seen.ts';
import { and, BACKPORT, CONDITION, FALSE, NO_RANGE, NO_VERSION, or, TRUE, type Truth } from './truth.ts';

interface Versions {
  readonly intervals: readonly Interval[];
  /** False if a bound could not be parsed. */
  readonly isWhole: boolean;
}

export interface ProductRanges {
  readonly kind: 'product';
  readonly products: readonly ProductKey[];
  readonly scheme: VersionScheme;
  readonly affected: Versions;
  readonly unaffected: Versions;
  /** For a version in no range. */
  readonly otherwise: Truth;
  readonly platforms: readonly string[];
  readonly words: readonly string[];
}

export function compileProductClaim(claim: ProductClaim): ProductRanges {
  const { products, scheme, affectedVersions, platforms } = claim;
  const affected = versionsOf([
    ...claim.affected.map((range) => intervalOf(range, scheme, products)),
    ...affectedVersions.map((version) => intervalOfVersion(version, scheme)),
  ]);
  const unaffected = claim.unaffected.map((range) => ({ range, interval: intervalOf(range, scheme, products) }));
  return {
    kind: 'product',
    products,
    scheme,
    affected,
    unaffected: versionsOf(unaffected.map(({ interval }) => interval)),
    otherwise: otherwiseOf(claim),
    platforms,
    words: wordsOf(claim, exceptionsOf(claim, { affected, unaffected })),
  };
}

function versionsOf(intervals: readonly (Interval | undefined)[]): Versions {
  const read = intervals.filter((interval) => interval !== undefined);
  return { intervals: exact(read), isWhole: read.length === intervals.length };
}

function otherwiseOf({ otherwise, affected, affectedVersions, unaffected }: ProductClaim): Truth {
  if (otherwise === 'affected') return TRUE;
  // A claim without any version makes no version unaffected.
  const isEmpty = affected.length + affectedVersions.length + unaffected.length === 0;
  return otherwise === 'unknown' || isEmpty ? NO_RANGE : FALSE;
}

interface Exempt {
  readonly range: VersionRange;
  readonly interval: Interval | undefined;
}

/** Unaffected ranges that are exceptions from the affected ones; the remaining ones only repeat what is unaffected. */
function exceptionsOf(
  { otherwise }: ProductClaim,
  { affected, unaffected }: { readonly affected: Versions; readonly unaffected: readonly Exempt[] },
): readonly VersionRange[] {
  const takesOut = ({ interval }: Exempt) =>
    interval === undefined || affected.intervals.some((each) => overlaps(each, interval));
  return unaffected
    .filter((each) => otherwise === 'affected' || !affected.isWhole || takesOut(each))
    .map(({ range }) => range);
}

function wordsOf(
  { affected, affectedVersions, otherwise }: ProductClaim,
  exceptions: readonly VersionRange[],
): readonly string[] {
  const within = otherwise === 'affected' ? ['all versions'] : [];
  const words = [...within, ...affected.map(rangeInWords), ...affectedVersions.map(versionInWords)];
  const last = words.at(-1);
  if (last === undefined || exceptions.length === 0) return words;
  return [...words.slice(0, -1), `${last}, except ${exceptInWords(exceptions)}`];
}

function exceptInWords(exceptions: readonly VersionRange[]): string {
  const [first, ...others] = exceptions.map(rangeInWords);
  return others.length === 0 ? `${first}` : `${first} and ${others.length} more`;
}

/** Whether the product is affected, by its version and by the named platforms. */
export function affectedUnder(ranges: ProductRanges, seen: Seen): Truth {
  return and(byVersion(ranges, seen), byPlatform(ranges, seen));
}

function byVersion({ scheme, affected, unaffected, otherwise }: ProductRanges, seen: Seen): Truth {
  if (seen.version === null) return NO_VERSION;
  if (versionUnder(seen, scheme) === undefined) return NO_RANGE;
  const exempt = inIntervals(seen, scheme, unaffected);
  if (exempt === TRUE || exempt === BACKPORT) return FALSE;
  const found = inIntervals(seen, scheme, affected);
  // If the version may be in an unaffected range that cannot be parsed, the only certain result is "not affected".
  if (exempt === NO_RANGE) return found === FALSE && otherwise === FALSE ? FALSE : NO_RANGE;
  if (found !== FALSE) return found;
  return otherwise === TRUE && seen.isPacked ? BACKPORT : otherwise;
}

function byPlatform({ platforms }: ProductRanges, { platform }: Seen): Truth {
  if (platforms.length === 0) return TRUE;
  return platforms.reduce<Truth>((truth, words) => {
    const need = needOfWords(words);
    if (need === 'nothing') return TRUE;
    return or(truth, need === 'unknown' ? CONDITION : holdsOn(need, platform));
  }, FALSE);
}
