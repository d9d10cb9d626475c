// A version as a key: text whose plain string order is the order of versions, which makes comparisons cheap and the
// order
// total. A key is a sequence of pieces; the first character of each gives its type.
declare const brand: unique symbol;

/** Only keys of one scheme can be compared. */
export type VersionKey = string & { readonly [brand]: true };

/** Longer texts are not versions. The limit also keeps the length of a number within one character. */
export const MAX_VERSION_LENGTH = 128;

// The pieces after a version's numbers, lowest first: 1.0-rc1 < 1.0 < 1.0p1 < 1.0a < 1.0-1 < 1.0.1.
export const PRE_RELEASE = '\x01';
export const END = '\x02';
export const UPDATE = '\x03';
export const LETTER = '\x04';
export const REVISION = '\x05';
export const NUMBER = '\x06';

/** Digits of any length by value: their number, then the digits. */
export function numberKey(digits: string): string {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === 0x30) start++;
  return String.fromCharCode(digits.length - start) + digits.slice(start);
}

/** Dot-separated numbers; trailing zeros are insignificant, 1.0 is 1. */
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
