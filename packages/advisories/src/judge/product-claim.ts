// A publisher's ranges of one product, compiled, and judged for one observed product.
import type { ProductClaim, ProductKey, VersionRange, VersionScheme } from '../advisory.ts';
import {
  exact,
  type Interval,
  intervalOf,
  intervalOfVersion,
  overlaps,
  rangeText,
  versionText,
} from '../versions/ranges.ts';
import { holdsOn, needOfText } from './platform.ts';
import { inIntervals, type PreparedProduct, versionUnder } from './prepared-product.ts';
import { and, BACKPORT, CONDITION, FALSE, NO_RANGE, NO_VERSION, or, TRUE, type Truth } from './truth.ts';

interface Versions {
  readonly intervals: readonly Interval[];
  /** False if a bound could not be parsed. */
  readonly isComplete: boolean;
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
  readonly rangeTexts: readonly string[];
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
    rangeTexts: rangeTextsOf(claim, exceptionsOf(claim, { affected, unaffected })),
  };
}

function versionsOf(intervals: readonly (Interval | undefined)[]): Versions {
  const read = intervals.filter((interval) => interval !== undefined);
  return { intervals: exact(read), isComplete: read.length === intervals.length };
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
    .filter((each) => otherwise === 'affected' || !affected.isComplete || takesOut(each))
    .map(({ range }) => range);
}

function rangeTextsOf(
  { affected, affectedVersions, otherwise }: ProductClaim,
  exceptions: readonly VersionRange[],
): readonly string[] {
  const within = otherwise === 'affected' ? ['all versions'] : [];
  const rangeTexts = [...within, ...affected.map(rangeText), ...affectedVersions.map(versionText)];
  const last = rangeTexts.at(-1);
  if (last === undefined || exceptions.length === 0) return rangeTexts;
  return [...rangeTexts.slice(0, -1), `${last}, except ${exceptionText(exceptions)}`];
}

function exceptionText(exceptions: readonly VersionRange[]): string {
  const [first, ...rest] = exceptions.map(rangeText);
  return rest.length === 0 ? `${first}` : `${first} and ${rest.length} more`;
}

/** Whether the product is affected, by its version and by the named platforms. */
export function affectedUnder(ranges: ProductRanges, prepared: PreparedProduct): Truth {
  return and(byVersion(ranges, prepared), byPlatform(ranges, prepared));
}

function byVersion({ scheme, affected, unaffected, otherwise }: ProductRanges, prepared: PreparedProduct): Truth {
  if (prepared.version === null) return NO_VERSION;
  if (versionUnder(prepared, scheme) === undefined) return NO_RANGE;
  const exempt = inIntervals(prepared, scheme, unaffected);
  if (exempt === TRUE || exempt === BACKPORT) return FALSE;
  const found = inIntervals(prepared, scheme, affected);
  // If the version may be in an unaffected range that cannot be parsed, the only certain result is "not affected".
  if (exempt === NO_RANGE) return found === FALSE && otherwise === FALSE ? FALSE : NO_RANGE;
  if (found !== FALSE) return found;
  return otherwise === TRUE && prepared.isPacked ? BACKPORT : otherwise;
}

function byPlatform({ platforms }: ProductRanges, { platform }: PreparedProduct): Truth {
  if (platforms.length === 0) return TRUE;
  return platforms.reduce<Truth>((truth, rangeTexts) => {
    const need = needOfText(rangeTexts);
    if (need === 'nothing') return TRUE;
    return or(truth, need === 'unknown' ? CONDITION : holdsOn(need, platform));
  }, FALSE);
}
