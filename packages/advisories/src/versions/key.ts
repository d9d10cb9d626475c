// A version as a key: text whose plain string order is the order of versions, so that comparing costs nothing and the
// order is total by its nature. A key is a row of pieces; the first character of each says what it is.
declare const brand: unique symbol;

/** Only keys of one scheme may be compared with each other. */
export type VersionKey = string & { readonly [brand]: true };

/** Longer texts are no versions. It also keeps the length of a number within one character. */
export const MAX_VERSION_LENGTH = 128;

// What may follow a version's numbers, lowest first: 1.0-rc1 < 1.0 < 1.0p1 < 1.0a < 1.0-1 < 1.0.1.
export const PRE_RELEASE = '\x01';
export const END = '\x02';
export const UPDATE = '\x03';
export const LETTER = '\x04';
export const REVISION = '\x05';
export const NUMBER = '\x06';

/** Digits of any length by their value: how many there are, then the digits. */
export function numberKey(digits: string): string {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === 0x30) start++;
  return String.fromCharCode(digits.length - start) + digits.slice(start);
}

/** Numbers with dots between; zeros at the end say nothing, 1.0 is 1. */
export function numbersKey(numbers: readonly string[]): string {
  let key = '';
  let zeros = '';
  for (const digits of numbers) {
    const piece = NUMBER + numberKey(digits);
    if (piece.length === 2) zeros += piece;
    else {
      key += zeros + piece;
      zeros = '';
    }
  }
  return key;
}
