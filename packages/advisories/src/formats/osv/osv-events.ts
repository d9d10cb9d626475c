// The ranges that OSV's events describe: https://ossf.github.io/osv-schema/#evaluation
import { z } from 'zod';
import type { VersionBound, VersionRange, VersionScheme } from '../../advisory.ts';
import { type BoundOrder, orderUnder } from '../order.ts';
import { bounded, Version } from '../reading.ts';
import { isEmpty } from '../version-text.ts';

export const Events = bounded(
  z.object({
    introduced: Version.optional(),
    fixed: Version.optional(),
    last_affected: Version.optional(),
    limit: Version.optional(),
  }),
);

interface Point {
  readonly kind: 'introduced' | 'fixed' | 'last_affected';
  readonly version: string;
}

/** Sorts events by version, whatever their order in the record. */
export function rangesOfEvents(events: z.infer<typeof Events>, scheme: VersionScheme): VersionRange[] {
  const points = events.flatMap(pointsOf);
  const limits = events.flatMap(({ limit }) => limit?.trim() ?? []);
  const isInfinite = limits.includes('*');
  const order = orderUnder(scheme, [...points.map(({ version }) => version), ...(isInfinite ? [] : limits)]);
  // A version below any of the limits is within the range; `*` is infinity.
  const limit = isInfinite ? undefined : limits.toSorted(order).at(-1);
  return rangesBetween(points.sort(byVersion(order)), order)
    .map((range) => limited(range, limit, order))
    .filter((range) => !isEmpty(range, order));
}

function rangesBetween(points: readonly Point[], order: BoundOrder): VersionRange[] {
  const ranges: VersionRange[] = [];
  let open: VersionRange | undefined;
  let fixed: string | undefined;
  for (const { kind, version } of points) {
    if (kind === 'introduced') {
      // A fix at the version that introduces the problem leaves an empty range.
      if (fixed !== undefined && order(fixed, version) === 0) continue;
      open ??= version === '0' ? {} : { from: { version, isInclusive: true } };
    } else if (open !== undefined) {
      ranges.push({ ...open, to: { version, isInclusive: kind === 'last_affected' } });
      open = undefined;
    } else if (kind === 'fixed') fixed = version;
  }
  return open === undefined ? ranges : [...ranges, open];
}

function pointsOf({ introduced, fixed, last_affected }: z.infer<typeof Events>[number]): Point[] {
  return [
    ...(introduced === undefined ? [] : [{ kind: 'introduced', version: introduced.trim() } as const]),
    ...(fixed === undefined ? [] : [{ kind: 'fixed', version: fixed.trim() } as const]),
    ...(last_affected === undefined ? [] : [{ kind: 'last_affected', version: last_affected.trim() } as const]),
  ];
}

/** At one version a fix ends the preceding range, and a last affected version ends one that begins there. */
const AT_ONE_VERSION: readonly Point['kind'][] = ['fixed', 'introduced', 'last_affected'];

/** `introduced: 0` comes before everything, including `0-alpha`. */
function byVersion(order: BoundOrder): (a: Point, b: Point) => number {
  const isFirst = ({ kind, version }: Point) => kind === 'introduced' && version === '0';
  return (a, b) =>
    Number(isFirst(b)) - Number(isFirst(a)) ||
    order(a.version, b.version) ||
    AT_ONE_VERSION.indexOf(a.kind) - AT_ONE_VERSION.indexOf(b.kind);
}

function limited(range: VersionRange, limit: string | undefined, order: BoundOrder): VersionRange {
  if (limit === undefined || (range.to !== undefined && order(range.to.version, limit) < 0)) return range;
  const to: VersionBound = { version: limit, isInclusive: false };
  return { ...range, to };
}
