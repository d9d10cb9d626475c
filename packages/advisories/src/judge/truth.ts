// Many-valued logic with unknown values by cause, ordered so that AND is the minimum and OR the maximum: "in range
// under
// an unobserved condition" is more than "the range cannot be parsed".

export const FALSE = 0;
/** No version was observed. */
export const NO_VERSION = 1;
/** There is nothing to compare the version with. */
export const NO_RANGE = 2;
/** It depends on a condition that was not observed. */
export const CONDITION = 3;
/** In range by its number, but a distribution may have backported the fix. */
export const BACKPORT = 4;
export const TRUE = 5;

export type Truth =
  | typeof FALSE
  | typeof NO_VERSION
  | typeof NO_RANGE
  | typeof CONDITION
  | typeof BACKPORT
  | typeof TRUE;

export function and(a: Truth, b: Truth): Truth {
  return a < b ? a : b;
}

export function or(a: Truth, b: Truth): Truth {
  return a > b ? a : b;
}

/** An unknown value stays unknown, with its cause. */
export function not(a: Truth): Truth {
  if (a === FALSE) return TRUE;
  return a === TRUE ? FALSE : a;
}
