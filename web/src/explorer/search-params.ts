// The state of a page in its address: words that are known there, and addresses that differ in some of them.

/** The value where it is one of those known; anything else that stands in an address is as good as nothing. */
export function oneOf<V extends string>(value: string | undefined, known: readonly V[]): V | undefined {
  return known.find((word) => word === value);
}

/** The same address with other values; undefined takes one out. */
export function withChanges(
  search: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...search, ...changes }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
