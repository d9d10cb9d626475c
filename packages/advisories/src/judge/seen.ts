// A seen product made ready to be judged: its version read once for each scheme.
import type { ProductKey, VersionScheme } from '../advisory.ts';
import { covers, type Interval, intervalAsShown, overlaps } from '../versions/ranges.ts';
import { distributionOf, withoutRevision } from '../versions/version.ts';
import { isDistribution } from './platform.ts';
import { BACKPORT, FALSE, NO_RANGE, NO_VERSION, TRUE, type Truth } from './truth.ts';

/** A product that detection saw at a domain. */
export interface SeenProduct {
  /** Every name that publishers know it by. */
  readonly keys: readonly ProductKey[];
  /** As the header or page showed it, `1.18.0`; null when none was shown. */
  readonly version: string | null;
  /** `ubuntu` where the version's maker was said to be a distribution, `win64` and the like where that was; lower case. */
  readonly platform: string | null;
  /** How many numbers every release of it has: `2.4` of three is any 2.4.x. Undefined where that differs. */
  readonly releaseParts?: number | undefined;
}

export interface Seen {
  readonly keys: readonly string[];
  readonly version: string | null;
  /** Without what its packager put behind it. */
  readonly upstream: string;
  readonly platform: string | null;
  /** Packed by somebody who may mend it without a new number. */
  readonly isPacked: boolean;
  /** Fewer numbers were shown than a release has: it is one of many versions. */
  readonly isCut: boolean;
  /** Filled as schemes are asked for. */
  readonly read: Map<VersionScheme, Interval | undefined>;
}

const ready = new WeakMap<SeenProduct, Seen>();

/** The same for the same object: one product is mostly judged by many advisories. */
export function seenOf(product: SeenProduct): Seen {
  let seen = ready.get(product);
  if (seen === undefined) {
    seen = makeReady(product);
    ready.set(product, seen);
  }
  return seen;
}

/** A bare `2` is cut short whatever the product. */
const MIN_PARTS = 2;
const NUMBERS = /^\d+(?:\.\d+)*$/;

function makeReady({ keys, version, platform, releaseParts = MIN_PARTS }: SeenProduct): Seen {
  const distribution = version === null ? null : distributionOf(version);
  const revised = version === null || distribution !== null ? null : withoutRevision(version);
  const upstream = distribution?.upstream ?? revised ?? version ?? '';
  return {
    keys,
    version,
    upstream,
    platform: platform ?? distribution?.distribution ?? null,
    isPacked: distribution !== null || revised !== null || (platform !== null && isDistribution(platform)),
    isCut: NUMBERS.test(upstream) && upstream.split('.').length < releaseParts,
    read: new Map(),
  };
}

/** The version under a scheme; undefined where it cannot be compared. */
export function versionUnder(seen: Seen, scheme: VersionScheme): Interval | undefined {
  if (seen.version === null) return undefined;
  if (seen.read.has(scheme)) return seen.read.get(scheme);
  const version = ofPackages(scheme)
    ? intervalAsShown(seen.version, scheme, seen.isCut && seen.version === seen.upstream)
    : intervalAsShown(seen.upstream, scheme, seen.isCut);
  seen.read.set(scheme, version);
  return version;
}

/** Whether the seen version is in one of the intervals; `isWhole`: none was left out as unreadable. */
export function inIntervals(
  seen: Seen,
  scheme: VersionScheme,
  { intervals, isWhole }: { readonly intervals: readonly Interval[]; readonly isWhole: boolean },
): Truth {
  if (seen.version === null) return NO_VERSION;
  const version = versionUnder(seen, scheme);
  if (version === undefined) return NO_RANGE;
  if (intervals.some((interval) => covers(interval, version))) return mayBeMended(seen, scheme) ? BACKPORT : TRUE;
  return isWhole && !intervals.some((interval) => overlaps(interval, version)) ? FALSE : NO_RANGE;
}

/** A distribution's own ranges know its revisions, but only where the version shows one. */
function mayBeMended({ version, isPacked }: Seen, scheme: VersionScheme): boolean {
  return ofPackages(scheme) ? version?.includes('-') !== true : isPacked;
}

/** Schemes whose versions have a packager's revision. */
function ofPackages(scheme: VersionScheme): boolean {
  return scheme === 'deb' || scheme === 'rpm';
}
