// The state of a page in its address: words that are known there, and addresses that differ in some of them.

/** The value where it is one of those known; anything else that stands in an address is as good as nothing. */
export function oneOf<V extends string>(value: string | undefined, known: readonly V[]): V | undefined {
  return known.find((word) => word === value);
}

type Words = Readonly<Record<string, string | undefined>>;

/** The same address with other values; undefined and the empty text take one out, so that addresses stay short. */
export function withChanges(search: Words, changes: Words): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...search, ...changes }).filter(isGiven));
}

function isGiven(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined && entry[1] !== '';
}
