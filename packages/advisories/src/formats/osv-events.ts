// The ranges that OSV's events describe: https://ossf.github.io/osv-schema/#evaluation
import { z } from 'zod';
import type { VersionBound, VersionRange } from '../advisory.ts';
import { compareBounds } from './order.ts';
import { bounded, Version } from './reading.ts';
import { isEmpty } from './version-text.ts';

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

/** In the order of versions, whatever the order they are written in. */
export function rangesOfEvents(events: z.infer<typeof Events>): VersionRange[] {
  const limit = highest(events.flatMap(({ limit }) => limit ?? []));
  const ranges: VersionRange[] = [];
  let open: VersionRange | undefined;
  for (const { kind, version } of events.flatMap(pointsOf).sort(byVersion)) {
    if (kind === 'introduced') {
      open ??= version === '0' ? {} : { from: { version, isInclusive: true } };
    } else if (open !== undefined) {
      ranges.push({ ...open, to: { version, isInclusive: kind === 'last_affected' } });
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push(open);
  return ranges.map((range) => limited(range, limit)).filter((range) => !isEmpty(range));
}

function pointsOf({ introduced, fixed, last_affected }: z.infer<typeof Events>[number]): Point[] {
  return [
    ...(introduced === undefined ? [] : [{ kind: 'introduced', version: introduced.trim() } as const]),
    ...(fixed === undefined ? [] : [{ kind: 'fixed', version: fixed.trim() } as const]),
    ...(last_affected === undefined ? [] : [{ kind: 'last_affected', version: last_affected.trim() } as const]),
  ];
}

/** `introduced: 0` comes before everything, `0-alpha` too. */
function byVersion(a: Point, b: Point): number {
  const isFirst = ({ kind, version }: Point) => kind === 'introduced' && version === '0';
  return Number(isFirst(b)) - Number(isFirst(a)) || compareBounds(a.version, b.version);
}

/** A version before any of the limits is within; `*` is infinity. */
function highest(limits: readonly string[]): string | undefined {
  if (limits.includes('*')) return undefined;
  return limits.toSorted(compareBounds).at(-1);
}

function limited(range: VersionRange, limit: string | undefined): VersionRange {
  if (limit === undefined || (range.to !== undefined && compareBounds(range.to.version, limit) < 0)) return range;
  const to: VersionBound = { version: limit, isInclusive: false };
  return { ...range, to };
}
