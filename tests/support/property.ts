// What must hold for every value that fast-check makes.
import fc from 'fast-check';

/** Runs `check` on `numRuns` tuples of values. */
export function holds<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  arbitraries: { [At in keyof Values]: fc.Arbitrary<Values[At]> },
  check: (...values: Values) => unknown,
): void {
  fc.assert(
    fc.property(...arbitraries, (...values) => check(...values) !== false),
    { numRuns },
  );
}
