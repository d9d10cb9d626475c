// What must hold for every value that fast-check makes.
import fc from 'fast-check';

export { fc };

const SURROGATES = 0x800;
const codePointNumber = fc.oneof(fc.nat(0x17f), fc.nat(0x10_ffff - SURROGATES));

/** The unit of strings of any characters. As fast-check's `binary`, which counts all code points first: a second in each process. */
export const codePoint = codePointNumber.map(
  (n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES),
  (text) => {
    const code = typeof text === 'string' ? (text.codePointAt(0) ?? 0) : 0;
    if (String.fromCodePoint(code) !== text) throw new TypeError('not one code point');
    return code < 0xd800 ? code : code - SURROGATES;
  },
);

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
