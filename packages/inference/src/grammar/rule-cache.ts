// Rules of grammars that were written before: a client sends the same tools with every request, and a schema takes
// milliseconds.
import { LRUCache } from 'lru-cache';

interface Entry {
  readonly root: string;
  readonly rules: ReadonlyMap<string, string>;
  readonly chars: number;
}

/** In characters, with the keys. */
const entries = new LRUCache<string, Entry>({
  ...{ maxSize: 8 * 1024 * 1024, maxEntrySize: 128 * 1024 },
  sizeCalculation: ({ chars }) => chars,
});

/** The root of the rules that `write` adds, added to `rules`; `key` determines them. What `write` throws is not kept. */
export function cachedRules(
  key: string,
  rules: Map<string, string>,
  write: (into: Map<string, string>) => string,
): string {
  let entry = entries.get(key);
  if (!entry) {
    entry = written(key, write);
    entries.set(key, entry);
  }
  for (const [name, text] of entry.rules) rules.set(name, text);
  return entry.root;
}

function written(key: string, write: (into: Map<string, string>) => string): Entry {
  const rules = new Map<string, string>();
  const root = write(rules);
  return { root, rules, chars: [...rules].reduce((sum, [name, text]) => sum + name.length + text.length, key.length) };
}
