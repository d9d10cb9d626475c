// The `affected` entries of an OSV record: a package, and its versions in ranges and lists.
import { z } from 'zod';
import type { ProductClaim, ProductKey, VersionRange, VersionScheme } from '../../advisory.ts';
import { joinClaims } from '../join-claims.ts';
import { ecosystemOf, packageKey, packageUrlKey } from '../package-key.ts';
import { bounded, MAX_CLAIMED, Name, Version } from '../reading.ts';
import { oneLine } from '../text.ts';
import { readVersionText } from '../version-text.ts';
import { Events, rangesOfEvents } from './osv-events.ts';

export const OsvAffected = z.object({
  package: z.object({ ecosystem: Name, name: Name, purl: Name.nullish() }).nullish(),
  ranges: bounded(z.object({ type: z.enum(['SEMVER', 'ECOSYSTEM', 'GIT']), events: Events })).nullish(),
  versions: bounded(Version, 100_000).nullish(),
  database_specific: z
    .object({ last_known_affected_version_range: Version.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
type OsvAffected = z.infer<typeof OsvAffected>;

/** Longer lists are derived by osv.dev from the ranges of the same entry. */
const MAX_LISTED_BESIDE_RANGES = 100;

/**
 * One claim for each package and release; entries without a package, such as those of commits only, name no product.
 */
export function osvClaims(entries: readonly OsvAffected[]): {
  readonly claims: readonly ProductClaim[];
  readonly isCut: boolean;
} {
  const claims: ProductClaim[] = [];
  let left = MAX_CLAIMED;
  let isCut = false;
  for (const entry of entries) {
    const size = sizeOf(entry);
    if (size > left) {
      isCut = true;
      continue;
    }
    left -= size;
    const claim = claimOf(entry);
    if (claim !== undefined) claims.push(claim);
  }
  return { claims: joinClaims(claims), isCut };
}

/** Computed before the events are sorted, which is the expensive part. */
function sizeOf(entry: OsvAffected): number {
  return 1 + (entry.ranges ?? []).reduce((sum, { events }) => sum + events.length, 0) + listedOf(entry).length;
}

function listedOf({ ranges, versions }: OsvAffected): string[] {
  const listed = versions ?? [];
  const isCovered = ranges?.some(({ type, events }) => type !== 'GIT' && events.some((event) => 'introduced' in event));
  if (isCovered && listed.length > MAX_LISTED_BESIDE_RANGES) return [];
  return [...new Set(listed.map((version) => version.trim()))];
}

function claimOf(entry: OsvAffected): ProductClaim | undefined {
  const products = keysOf(entry);
  if (products.length === 0) return undefined;
  const scheme = schemeOf(entry);
  const ranges = rangesOf(entry, scheme);
  const affectedVersions = listedOf(entry);
  const name = entry.package?.ecosystem ?? '';
  return {
    kind: 'product',
    products,
    scheme,
    affected: ranges,
    affectedVersions,
    unaffected: [],
    // Without comparable ranges and lists the record says nothing about any version.
    otherwise: ranges.length + affectedVersions.length > 0 ? 'unaffected' : 'unknown',
    platforms: ecosystemOf(name)?.isDistribution ? [oneLine(name, 100).toLowerCase()] : [],
  };
}

function keysOf({ package: named }: OsvAffected): ProductKey[] {
  if (!named) return [];
  const ecosystem = ecosystemOf(named.ecosystem);
  const keys = [ecosystem && packageKey(ecosystem, named.name), named.purl ? packageUrlKey(named.purl) : undefined];
  return [...new Set(keys.flatMap((key) => key ?? []))];
}

function schemeOf({ package: named, ranges }: OsvAffected): VersionScheme {
  const isSemver = ranges?.some(({ type }) => type === 'SEMVER');
  return ecosystemOf(named?.ecosystem ?? '')?.scheme ?? (isSemver ? 'semver' : 'dotted');
}

/** Commits are ordered only within their repository. */
function rangesOf({ ranges, database_specific }: OsvAffected, scheme: VersionScheme): VersionRange[] {
  const comparable = (ranges ?? []).filter(({ type }) => type !== 'GIT');
  return comparable
    .flatMap(({ events }) => rangesOfEvents(events, scheme))
    .map((range) => ended(range, database_specific));
}

/** For a range without a fixed version GitHub gives its end in `database_specific`: `<= 1.2.3`. */
function ended(range: VersionRange, beside: OsvAffected['database_specific']): VersionRange {
  if (range.to !== undefined || beside?.last_known_affected_version_range === undefined) return range;
  const [last] = readVersionText(beside.last_known_affected_version_range)?.ranges ?? [];
  return last?.to !== undefined && last.from === undefined ? { ...range, to: last.to } : range;
}
