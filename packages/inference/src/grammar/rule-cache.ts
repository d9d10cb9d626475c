// Rules of grammars that were written before: a client sends the same tools with every request, and a schema takes
// milliseconds.

/** Characters of all entries together. */
const MAX_CHARS = 8 * 1024 * 1024;
/** Of one entry. */
const MAX_ENTRY = 128 * 1024;

interface Entry {
  readonly root: string;
  readonly rules: ReadonlyMap<string, string>;
  readonly chars: number;
}

/** Least recently used first. */
const entries = new Map<string, Entry>();
let chars = 0;

/** The root of the rules that `write` adds, added to `rules`; `key` determines them. What `write` throws is not kept. */
export function cachedRules(
  key: string,
  rules: Map<string, string>,
  write: (into: Map<string, string>) => string,
): string {
  const entry = entries.get(key) ?? written(key, write);
  // Again the last.
  if (entries.delete(key)) entries.set(key, entry);
  for (const [name, text] of entry.rules) rules.set(name, text);
  return entry.root;
}

function written(key: string, write: (into: Map<string, string>) => string): Entry {
  const own = new Map<string, string>();
  const root = write(own);
  const size = [...own].reduce((sum, [name, text]) => sum + name.length + text.length, key.length);
  const entry = { root, rules: own, chars: size };
  if (size > MAX_ENTRY) return entry;
  entries.set(key, entry);
  chars += size;
  for (const [oldest, { chars: freed }] of entries) {
    if (chars <= MAX_CHARS) break;
    entries.delete(oldest);
    chars -= freed;
  }
  return entry;
}
