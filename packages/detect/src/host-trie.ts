// Host patterns as a trie over reversed labels: a look-up walks the host's own labels, however many patterns there are.

interface Node<T> {
  readonly children: Map<string, Node<T>>;
  /** Labels with `*`, by the text before their first `*`. */
  readonly globs: Map<string, Glob<T>[]>;
  /** The lengths of `globs`' keys, so that a label is cut only where a glob could begin. */
  readonly globPrefixLengths: number[];
  values: T[];
}

interface Glob<T> {
  readonly label: string;
  readonly parts: readonly string[];
  readonly node: Node<T>;
}

interface Best<T> {
  depth: number;
  values: readonly T[];
}

const NOTHING: readonly never[] = [];

/** Maps host patterns (see `HostPattern` in catalog.ts) to values; the most specific pattern of a host wins. */
export class HostTrie<T> {
  readonly #root: Node<T> = createNode();

  add(pattern: string, value: T): void {
    let node = this.#root;
    for (const label of pattern.split('.').reverse()) {
      node = label.includes('*') ? globChild(node, label) : plainChild(node, label);
    }
    node.values.push(value);
  }

  /** Values of the pattern with the most labels that ends `host`; a plain label beats one with `*`. Lower-case, no trailing dot. */
  find(host: string): readonly T[] {
    const best: Best<T> = { depth: 0, values: NOTHING };
    descend(this.#root, host, host.length, 0, best);
    return best.values;
  }

  /** Values of every pattern that ends `host`, the least specific first. */
  findEvery(host: string): readonly T[] {
    const found: T[] = [];
    collect(this.#root, host, host.length, found);
    return found;
  }
}

/** As `descend`, keeping the values of every pattern on the way. */
function collect<T>(node: Node<T>, host: string, end: number, found: T[]): void {
  found.push(...node.values);
  if (end <= 0 || (node.children.size === 0 && node.globs.size === 0)) return;
  const start = host.lastIndexOf('.', end - 1) + 1;
  const label = host.slice(start, end);
  const child = node.children.get(label);
  if (child) collect(child, host, start - 1, found);
  if (node.globs.size === 0) return;
  for (const glob of fittingGlobs(node, label)) collect(glob.node, host, start - 1, found);
}

function createNode<T>(): Node<T> {
  return { children: new Map(), globs: new Map(), globPrefixLengths: [], values: [] };
}

function plainChild<T>(node: Node<T>, label: string): Node<T> {
  const known = node.children.get(label);
  if (known) return known;
  const created = createNode<T>();
  node.children.set(label, created);
  return created;
}

function globChild<T>(node: Node<T>, label: string): Node<T> {
  const parts = label.split('*');
  const prefix = parts[0] ?? '';
  const siblings = node.globs.get(prefix) ?? [];
  const known = siblings.find((glob) => glob.label === label);
  if (known) return known.node;
  const created = createNode<T>();
  siblings.push({ label, parts, node: created });
  // Longest first: of two globs that both match, the one that says more wins.
  siblings.sort((a, b) => b.label.length - a.label.length || (a.label < b.label ? -1 : 1));
  node.globs.set(prefix, siblings);
  if (!node.globPrefixLengths.includes(prefix.length)) {
    node.globPrefixLengths.push(prefix.length);
    node.globPrefixLengths.sort((a, b) => b - a);
  }
  return created;
}

/** `end` is where the labels still to be read end; the last of them stands before it. */
function descend<T>(node: Node<T>, host: string, end: number, depth: number, best: Best<T>): void {
  if (node.values.length > 0 && depth > best.depth) {
    best.depth = depth;
    best.values = node.values;
  }
  if (end <= 0 || (node.children.size === 0 && node.globs.size === 0)) return;
  const start = host.lastIndexOf('.', end - 1) + 1;
  const label = host.slice(start, end);
  const child = node.children.get(label);
  if (child) descend(child, host, start - 1, depth + 1, best);
  if (node.globs.size === 0) return;
  for (const glob of fittingGlobs(node, label)) descend(glob.node, host, start - 1, depth + 1, best);
}

/** Globs that fit a label, the longest first: of two the one that says more is tried first. */
function fittingGlobs<T>(node: Node<T>, label: string): readonly Glob<T>[] {
  let fitting: Glob<T>[] | undefined;
  for (const length of node.globPrefixLengths) {
    for (const glob of node.globs.get(label.slice(0, length)) ?? NOTHING) {
      if (!matchesGlob(glob.parts, label)) continue;
      if (fitting) fitting.push(glob);
      else fitting = [glob];
    }
  }
  if (fitting && fitting.length > 1)
    fitting.sort((a, b) => b.label.length - a.label.length || (a.label < b.label ? -1 : 1));
  return fitting ?? NOTHING;
}

/** The leftmost fit of each middle part is the right one, so one pass without going back decides. */
function matchesGlob(parts: readonly string[], label: string): boolean {
  const suffix = parts.at(-1) ?? '';
  let from = parts[0]?.length ?? 0;
  if (label.length < from + suffix.length || !label.endsWith(suffix)) return false;
  for (const part of parts.slice(1, -1)) {
    const at = label.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return from + suffix.length <= label.length;
}
