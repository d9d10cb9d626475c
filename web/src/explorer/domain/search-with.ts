// The words of an address with some of them changed: an empty one leaves, so that addresses stay short.

type Search = Readonly<Record<string, string>>;

export function searchWith(search: Search, changes: Search): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value !== ''));
}
