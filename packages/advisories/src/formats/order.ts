// The order of bounds within one publisher's range, in which its changes are processed.
import type { VersionScheme } from '../advisory.ts';
import { compareVersions, readVersion, type VersionKey } from '../versions/version.ts';

/** Words that precede a release: `2.0-rc1` before `2.0`; other letters follow it, `1.0.1f`. */
const BEFORE_RELEASE = /^(?:a|alpha|b|beta|c|rc|cr|m|milestone|pre|preview|dev|next|snapshot|nightly|canary)$/;
const MAX_VERSION = 256;

/** Below 0, 0 or above, as the first bound compares to the second. */
export type BoundOrder = (left: string, right: string) => number;

/** The scheme's own order of these versions; if one of them cannot be parsed under it, the order of their parts. */
export function orderUnder(scheme: VersionScheme, versions: readonly string[]): BoundOrder {
  const keys = new Map<string, VersionKey>();
  for (const version of versions) {
    const key = readVersion(version, scheme);
    // Mixing keys and parts would not give a total order.
    if (key === undefined) return compareBounds;
    keys.set(version, key);
  }
  return (left, right) => {
    const [a, b] = [keys.get(left), keys.get(right)];
    return a === undefined || b === undefined ? compareBounds(left, right) : compareVersions(a, b);
  };
}

/** Compares numbers numerically; below 0, 0 or above. Sufficient for bounds, not for judging an observed version. */
export function compareBounds(left: string, right: string): number {
  const a = partsOf(left);
  const b = partsOf(right);
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const order = weightOf(a[i]) - weightOf(b[i]) || compareParts(a[i] ?? '0', b[i] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
}

/** A Debian or RPM epoch, `1:`, comes first; versions without one have 0. */
function partsOf(version: string): string[] {
  const text = version.slice(0, MAX_VERSION).toLowerCase();
  const epoch = /^(\d+):/.exec(text)?.[1];
  const parts: string[] = text.match(/\d+|[a-z]+|~/g) ?? [];
  return epoch === undefined ? ['0', ...parts] : parts;
}

/** A missing part has the weight of the number 0. */
function weightOf(part: string | undefined): number {
  if (part === '~') return -2;
  if (part === undefined || /^\d/.test(part)) return 0;
  return BEFORE_RELEASE.test(part) ? -1 : 1;
}

function compareParts(a: string, b: string): number {
  if (/^\d/.test(a) && /^\d/.test(b)) {
    const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
    return x.length - y.length || compareText(x, y);
  }
  return compareText(a, b);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
