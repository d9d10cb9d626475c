// Host patterns as a trie over reversed labels: a look-up visits the host's own labels, however many patterns there are.

interface Node<T> {
  readonly values: T[];
  readonly children: Map<string, Node<T>>;
  /** Labels with `*`, the longest first. */
  readonly globs: Glob<T>[];
}

interface Glob<T> {
  readonly label: string;
  readonly parts: readonly string[];
  readonly node: Node<T>;
}

/** Receives the values of a matching pattern and its number of labels. */
type Visit<T> = (values: readonly T[], depth: number) => void;

/** Maps host patterns (see `HostPattern` in catalog.ts) to values; the most specific pattern of a host wins. */
export class HostTrie<T> {
  readonly #root: Node<T> = createNode();

  /** `isFirst`: before the other values of the pattern. */
  add(pattern: string, value: T, { isFirst = false } = {}): void {
    let node = this.#root;
    for (const label of pattern.split('.').reverse()) node = childFor(node, label);
    if (isFirst) node.values.unshift(value);
    else node.values.push(value);
  }

  /**
   * Values of the pattern with the most labels that matches the end of `host`; a plain label precedes one with `*`.
   * `host` is lower-case, without a trailing dot.
   */
  find(host: string): readonly T[] {
    let best: readonly T[] = [];
    let bestDepth = 0;
    visitMatches(this.#root, host.split('.'), 0, (values, depth) => {
      if (depth > bestDepth) [best, bestDepth] = [values, depth];
    });
    return best;
  }

  /** Values of every pattern that matches the end of `host`, the least specific first. */
  findEvery(host: string): readonly T[] {
    const found: T[] = [];
    visitMatches(this.#root, host.split('.'), 0, (values) => found.push(...values));
    return found;
  }
}

function createNode<T>(): Node<T> {
  return { values: [], children: new Map(), globs: [] };
}

function childFor<T>(node: Node<T>, label: string): Node<T> {
  const known = node.children.get(label) ?? node.globs.find((glob) => glob.label === label)?.node;
  if (known) return known;
  const created = createNode<T>();
  if (!label.includes('*')) node.children.set(label, created);
  else {
    node.globs.push({ label, parts: label.split('*'), node: created });
    // Of two globs that both match, the longer one is more specific.
    node.globs.sort((a, b) => b.label.length - a.label.length || (a.label < b.label ? -1 : 1));
  }
  return created;
}

/** Visits the patterns below `node` that match the remaining labels, each pattern before those that extend it. */
function visitMatches<T>(node: Node<T>, labels: readonly string[], depth: number, visit: Visit<T>): void {
  const label = labels[labels.length - 1 - depth];
  if (label === undefined) return;
  const enter = (child: Node<T>) => {
    if (child.values.length > 0) visit(child.values, depth + 1);
    visitMatches(child, labels, depth + 1, visit);
  };
  const child = node.children.get(label);
  if (child) enter(child);
  for (const glob of node.globs) if (matchesGlob(glob.parts, label)) enter(glob.node);
}

/** One pass without backtracking decides, since the leftmost match of each middle part is always right. */
function matchesGlob(parts: readonly string[], label: string): boolean {
  const prefix = parts[0] ?? '';
  const suffix = parts.at(-1) ?? '';
  if (label.length < prefix.length + suffix.length || !label.startsWith(prefix) || !label.endsWith(suffix))
    return false;
  let from = prefix.length;
  for (const part of parts.slice(1, -1)) {
    const at = label.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return from + suffix.length <= label.length;
}
