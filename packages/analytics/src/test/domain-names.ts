// Names of domains as fast-check makes them: few letters, so that they begin alike and hold the same parts.
import fc from 'fast-check';

/** For all files of the process: a failing test must end, and a property that ran fewer cases than it should has failed. */
fc.configureGlobal({ interruptAfterTimeLimit: 120_000, markInterruptAsFailure: true });

const labels = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'z', '0', '9', '-', '_'), minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }),
  fc.constantFrom('xn--bcher-kva', 'xn--p1ai', 'a'.repeat(63), 'shop', 'shopping'),
);
const shortNames = fc.tuple(labels, fc.constantFrom('com', 'co.uk', 'de', 'xn--p1ai')).map((parts) => parts.join('.'));
/** RFC 1035, 2.3.4: the longest name there is. */
const LONGEST = `${`${'a'.repeat(61)}.`.repeat(4)}ab.co`;
const longNames = fc
  .tuple(fc.constantFrom('b', 'z', '-'), fc.nat(252))
  .map(([other, at]) => LONGEST.slice(0, at) + other + LONGEST.slice(at + 1));

const names: fc.Arbitrary<string> = fc.oneof({ weight: 9, arbitrary: shortNames }, longNames);

export const uniqueNames = (maxLength: number): fc.Arbitrary<string[]> =>
  fc.uniqueArray(names, { maxLength, size: 'max' });

/** A part of one of the names, or something that none may hold. */
export function partsOf(all: readonly string[]): fc.Arbitrary<string> {
  const cut = fc
    .tuple(fc.constantFrom(...(all.length > 0 ? all : ['a'])), fc.nat(252), fc.integer({ min: 1, max: 10 }))
    .map(([name, from, length]) => name.slice(from % name.length, (from % name.length) + length));
  const other = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'z', '-', '.', '_', '0', 'q'), minLength: 1, maxLength: 10 }),
    fc.constantFrom(...'xn-- . - .c com .com a.c * a% ü \u0161 ab\u0161 a\u0000 \u{1f600}'.split(' ')),
  );
  return fc.oneof({ weight: 3, arbitrary: cut }, other);
}
