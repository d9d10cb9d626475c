// The versions of one `affected` entry of a CVE record, by the algorithm in the documentation of the CVE schema.
// https://github.com/CVEProject/cve-schema/blob/main/schema/docs/versions.md
import { z } from 'zod';
import type { ProductClaim, VersionBound, VersionRange, VersionScheme } from '../../advisory.ts';
import { orderUnder } from '../order.ts';
import { bounded, Version } from '../reading.ts';
import { isEmpty, plainVersion, readVersionText, seriesOf, type VersionText } from '../version-text.ts';

const Status = z.enum(['affected', 'unaffected', 'unknown']);
type Status = z.infer<typeof Status>;

export const VersionEntry = z.object({
  version: Version,
  status: Status,
  versionType: z.string().max(128).optional(),
  lessThan: Version.optional(),
  lessThanOrEqual: Version.optional(),
  changes: bounded(z.object({ at: Version, status: Status })).optional(),
});
export const DefaultStatus = Status;
type VersionEntry = z.infer<typeof VersionEntry>;

type Versions = Pick<ProductClaim, 'scheme' | 'affected' | 'affectedVersions' | 'unaffected' | 'otherwise'>;
/** Part of an entry with one status. */
type Piece = VersionText & { readonly status: Status };

const schemes: ReadonlyMap<string, VersionScheme> = new Map([
  ['semver', 'semver'],
  ['python', 'python'],
  ['rpm', 'rpm'],
  ['deb', 'deb'],
  ['dpkg', 'deb'],
]);
/** Commits are ordered only within their repository. */
const REPOSITORY_TYPES = /^(?:git|hg|svn|git_commit_hash|original_commit_for_fix)$/i;
/** Placeholders for a missing lower bound; alone they mean nothing. */
const NO_BOUND = /^(?:0|n\/a|unspecified|unknown|-|\*|)$/i;
const SEMVER = /^\d+(?:\.\d+){0,2}(?:[-+].*)?$/;

/**
 * The versions that a CNA lists. If part of it cannot be parsed the remaining versions are unknown, never unaffected.
 */
export function versionsOf(
  entries: readonly VersionEntry[],
  defaultStatus: Status | undefined,
  known: VersionScheme | undefined,
): Versions {
  const comparable = entries.filter(({ versionType }) => !REPOSITORY_TYPES.test(versionType ?? ''));
  const pieces = comparable.map((entry) => piecesOf(entry, known ?? schemeNamed(entry)));
  const read = pieces.flatMap((piece) => piece ?? []);
  const isComplete =
    pieces.every((piece) => piece !== undefined) &&
    read.every(({ status }) => status !== 'unknown') &&
    (comparable.length > 0 || entries.length === 0);
  const affected = read.filter(({ status }) => status === 'affected');
  const unaffected = read.filter(({ status }) => status === 'unaffected');
  return {
    scheme: known ?? schemeOf(comparable, read),
    affected: affected.flatMap(({ ranges }) => ranges),
    affectedVersions: affected.flatMap(({ versions }) => versions),
    unaffected: unaffected.flatMap(({ ranges, versions }) => [...ranges, ...versions.map(only)]),
    otherwise: isComplete ? (defaultStatus ?? 'unknown') : 'unknown',
  };
}

function only(version: string): VersionRange {
  const bound = { version, isInclusive: true };
  return { from: bound, to: bound };
}

function piecesOf(entry: VersionEntry, scheme: VersionScheme): Piece[] | undefined {
  const upper = entry.lessThan ?? entry.lessThanOrEqual;
  if (upper === undefined) {
    // Changes need a range, and `0` alone is used for "all", "none" and the version 0.
    if (entry.changes?.length || (entry.version !== '*' && NO_BOUND.test(entry.version.trim()))) return undefined;
    const text = readVersionText(entry.version);
    return text && [{ ...text, status: entry.status }];
  }
  const range = rangeOf(entry.version.trim(), upper.trim(), entry.lessThan === undefined);
  return range && segmentsOf(range, entry, scheme);
}

function rangeOf(lower: string, upper: string, isInclusive: boolean): VersionRange | undefined {
  const version = plainVersion(lower) ?? seriesOf(lower)?.from.version;
  const isOpen = NO_BOUND.test(lower);
  const to = upperOf(upper, isInclusive);
  if (to === undefined || (version === undefined && !isOpen)) return undefined;
  const from = isOpen || version === undefined ? {} : { from: { version, isInclusive: true } };
  return { ...from, ...(to === 'infinity' ? {} : { to }) };
}

/** `*` is infinity: `2.*` is the end of the series 2, `*` or a word with it means no end. */
function upperOf(upper: string, isInclusive: boolean): VersionBound | 'infinity' | undefined {
  const series = seriesOf(upper);
  if (series !== undefined) return series.to;
  if (/^(?:[^\d].*)?\*$/.test(upper)) return 'infinity';
  const version = plainVersion(upper);
  return version === undefined ? undefined : { version, isInclusive };
}

/** A range split where its status changes; undefined if it contains no version, or a change cannot be parsed. */
function segmentsOf(
  range: VersionRange,
  { status, changes = [] }: VersionEntry,
  scheme: VersionScheme,
): Piece[] | undefined {
  const points = changes.map((change) => ({ status: change.status, version: plainVersion(change.at.trim()) ?? '' }));
  if (points.some(({ version }) => version === '')) return undefined;
  const order = orderUnder(scheme, [...boundsOf(range), ...points.map(({ version }) => version)]);
  if (isEmpty(range, order)) return undefined;
  points.sort((a, b) => order(a.version, b.version));
  const pieces: Piece[] = [];
  let from = range.from;
  let current = status;
  for (const point of points) {
    if (isEmpty({ ...range, from: { version: point.version, isInclusive: true } }, order)) break;
    const segment = { ...(from && { from }), to: { version: point.version, isInclusive: false } };
    if (!isEmpty(segment, order)) {
      pieces.push(pieceOf(segment, current));
      from = { version: point.version, isInclusive: true };
    }
    current = point.status;
  }
  pieces.push(pieceOf({ ...(from && { from }), ...(range.to && { to: range.to }) }, current));
  return pieces;
}

const pieceOf = (range: VersionRange, status: Status): Piece => ({ ranges: [range], versions: [], status });

/** The publisher's order, if its versions have that form and it names only one. */
function schemeOf(entries: readonly VersionEntry[], pieces: readonly Piece[]): VersionScheme {
  const named = new Set(entries.map(schemeNamed));
  const [scheme = 'dotted'] = named.size === 1 ? named : [];
  return scheme === 'semver' && !pieces.flatMap(versionsIn).every((version) => SEMVER.test(version))
    ? 'dotted'
    : scheme;
}

function schemeNamed({ versionType }: VersionEntry): VersionScheme {
  return schemes.get(versionType?.toLowerCase() ?? '') ?? 'dotted';
}

function versionsIn({ ranges, versions }: Piece): string[] {
  return [...versions, ...ranges.flatMap(boundsOf)];
}

function boundsOf({ from, to }: VersionRange): string[] {
  return [from, to].flatMap((bound) => bound?.version ?? []);
}
