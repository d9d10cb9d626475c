// An observed product prepared for judging: its version is parsed once for each scheme.
import type { ProductKey, VersionScheme } from '../advisory.ts';
import { covers, type Interval, intervalAsShown, overlaps } from '../versions/ranges.ts';
import { distributionOf, withoutRevision } from '../versions/version.ts';
import { isDistribution } from './platform.ts';
import { BACKPORT, FALSE, NO_RANGE, NO_VERSION, TRUE, type Truth } from './truth.ts';

/** A product that detection observed at a domain. */
export interface ObservedProduct {
  /** All names that publishers use for it. */
  readonly keys: readonly ProductKey[];
  /** As in the header or page, `1.18.0`; null if none was shown. */
  readonly version: string | null;
  /** `ubuntu` if the header names the packaging distribution, `win64` and the like if it names a system; lower case. */
  readonly platform: string | null;
  /** Number of components of every release: `2.4` of three is any 2.4.x. Undefined if that varies. */
  readonly releaseParts?: number | undefined;
}

export interface PreparedProduct {
  readonly keys: readonly string[];
  readonly version: string | null;
  /** Without the packager's suffix. */
  readonly upstream: string;
  readonly platform: string | null;
  /** Packaged by a distribution that may backport fixes without a new number. */
  readonly isPacked: boolean;
  /** The version has fewer components than a release, so it is one of several versions. */
  readonly isCut: boolean;
  /** Filled on demand. */
  readonly read: Map<VersionScheme, Interval | undefined>;
}

const ready = new WeakMap<ObservedProduct, PreparedProduct>();

/** Cached by object: one product is usually judged for many advisories. */
export function prepare(product: ObservedProduct): PreparedProduct {
  let prepared = ready.get(product);
  if (prepared === undefined) {
    prepared = makeReady(product);
    ready.set(product, prepared);
  }
  return prepared;
}

/** A version with one component is truncated for every product. */
const MIN_PARTS = 2;
const NUMBERS = /^\d+(?:\.\d+)*$/;

function makeReady({ keys, version, platform, releaseParts = MIN_PARTS }: ObservedProduct): PreparedProduct {
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

/** The version under a scheme; undefined if it cannot be compared. */
export function versionUnder(prepared: PreparedProduct, scheme: VersionScheme): Interval | undefined {
  if (prepared.version === null) return undefined;
  if (prepared.read.has(scheme)) return prepared.read.get(scheme);
  const version = ofPackages(scheme)
    ? intervalAsShown(prepared.version, scheme, prepared.isCut && prepared.version === prepared.upstream)
    : intervalAsShown(prepared.upstream, scheme, prepared.isCut);
  prepared.read.set(scheme, version);
  return version;
}

/** Whether the version is in one of the intervals; `isComplete`: no interval was left out as invalid. */
export function inIntervals(
  prepared: PreparedProduct,
  scheme: VersionScheme,
  { intervals, isComplete }: { readonly intervals: readonly Interval[]; readonly isComplete: boolean },
): Truth {
  if (prepared.version === null) return NO_VERSION;
  const version = versionUnder(prepared, scheme);
  if (version === undefined) return NO_RANGE;
  if (intervals.some((interval) => covers(interval, version))) return mayBeFixed(prepared, scheme) ? BACKPORT : TRUE;
  return isComplete && !intervals.some((interval) => overlaps(interval, version)) ? FALSE : NO_RANGE;
}

/** A distribution's own ranges include its revisions, but only a version that shows one can be compared. */
function mayBeFixed({ version, isPacked }: PreparedProduct, scheme: VersionScheme): boolean {
  return ofPackages(scheme) ? version?.includes('-') !== true : isPacked;
}

/** Schemes whose versions have a packager's revision. */
function ofPackages(scheme: VersionScheme): boolean {
  return scheme === 'deb' || scheme === 'rpm';
}
