// What must hold for every value that fast-check makes.
import fc from 'fast-check';

/** Runs `check` on `numRuns` tuples of values. */
export function holds<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  arbitraries: { [At in keyof Values]: fc.Arbitrary<Values[At]> },
  // biome-ignore lint/suspicious/noConfusingVoidType: a check asserts, or gives a boolean; a promise would be taken for true
  check: (...values: Values) => void | boolean,
): void {
  const isHeld = (...values: Values) => {
    const result: unknown = check(...values);
    if (result instanceof Promise) throw new TypeError('an asynchronous check needs fc.asyncProperty');
    return result !== false;
  };
  fc.assert(fc.property(...arbitraries, isHeld), { numRuns });
}
