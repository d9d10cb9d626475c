// The state of a page in its URL: reading parameters, and links that change some of them.

export type Search = Readonly<Record<string, string | undefined>>;

/** The value if it is one of the known values; otherwise undefined. */
export function oneOf<V extends string>(value: string | undefined, known: readonly V[]): V | undefined {
  return known.find((each) => each === value);
}

/** The parameters with changes; undefined and the empty string remove one. */
export function withChanges(search: Search, changes: Search): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...search, ...changes }).filter(isGiven));
}

function isGiven(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined && entry[1] !== '';
}

/** A link to the same page with changed parameters; a changed filter starts at the first page. */
export const changed = (changes: Search) =>
  ({
    to: '.',
    search: (before: Search) => withChanges(before, { offset: undefined, cursor: undefined, ...changes }),
    resetScroll: false,
  }) as const;
