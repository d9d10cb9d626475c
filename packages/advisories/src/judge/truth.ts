// Three-valued logic with the unknown told apart by its cause, in an order that makes AND the lower, OR the higher:
// in range under an unseen condition says more than a range that cannot be read.

export const FALSE = 0;
/** No version was seen. */
export const NO_VERSION = 1;
/** Nothing to compare the version with. */
export const NO_RANGE = 2;
/** It hangs on something that was not seen. */
export const CONDITION = 3;
/** In range by its number, but a distribution may have mended it. */
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

/** What is unknown stays so, with its cause. */
export function not(a: Truth): Truth {
  if (a === FALSE) return TRUE;
  return a === TRUE ? FALSE : a;
}
