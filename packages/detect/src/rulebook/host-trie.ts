// Host patterns as a trie over reversed labels: a look-up walks the host's own labels, however many patterns there are.

/** What every look-up reads stands first, so that it fits in one line of the processor's cache. */
interface Node<T> {
  /** As in patterns; '' of the root. */
  readonly label: string;
  readonly parent: Node<T> | undefined;
  /** Where the hash of a child's label goes on from. */
  readonly seed: number;
  readonly values: T[];
  /** By ASCII character, 1 where a glob may fit a label that begins with it; undefined without globs. */
  globStarts: Uint8Array | undefined;
  /** Labels with `*`, by the text before their first `*`. */
  readonly globs: Map<string, Glob<T>[]>;
  /** The lengths of `globs`' keys, so that a label is cut only where a glob could begin. */
  readonly globPrefixLengths: number[];
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
const DOT = 46;
const ASCII = 128;
/** FNV-1a's. */
const SEED = -2_128_831_035;
const PRIME = 16_777_619;
/** At most half of the slots are taken, so that a look-up for nothing ends at the first or second. */
const MIN_SLOTS = 16;

/** Maps host patterns (see `HostPattern` in catalog.ts) to values; the most specific pattern of a host wins. */
export class HostTrie<T> {
  readonly #root: Node<T> = createNode('', undefined, SEED);
  /** All nodes with plain labels. */
  readonly #nodes: Node<T>[] = [];
  /**
   * Slots of two numbers: a place in `#nodes`, one more, and the hash of the labels up to that node; a place of 0 is free. One
   * table, since most look-ups find nothing; both side by side, since the table is larger than what a processor keeps near.
   */
  #slots = new Int32Array(2 * MIN_SLOTS);
  #globCount = 0;

  add(pattern: string, value: T): void {
    let node = this.#root;
    for (const label of pattern.split('.').reverse()) {
      node = label.includes('*') ? this.#globChild(node, label) : this.#plainChild(node, label);
    }
    node.values.push(value);
  }

  /** Values of the pattern with the most labels that ends `host`; a plain label beats one with `*`. Lower-case, no trailing dot. */
  find(host: string): readonly T[] {
    let node = this.#root;
    let values: readonly T[] = NOTHING;
    let end = host.length;
    while (end > 0) {
      // One way back over the label finds its beginning and its hash.
      let start = end;
      let hash = hashAfter(node.seed, DOT);
      for (; start > 0; start--) {
        const code = host.charCodeAt(start - 1);
        if (code === DOT) break;
        hash = hashAfter(hash, code);
      }
      if (mayFitGlob(node, host, start)) {
        // Now there are two ways to go, and it counts which of them leads deeper.
        const best: Best<T> = { depth: 0, values };
        this.#descend(node, host, end, 0, best);
        return best.values;
      }
      const child = this.#childAt(hash, node, host, start, end);
      if (!child) break;
      if (child.values.length > 0) values = child.values;
      node = child;
      end = start - 1;
    }
    return values;
  }

  /** Values of every pattern that ends `host`, the least specific first. */
  findEvery(host: string): readonly T[] {
    let node: Node<T> | undefined = this.#root;
    let found: T[] | undefined;
    for (let end = host.length; end > 0; ) {
      const start = startOfLabel(host, end);
      if (mayFitGlob(node, host, start)) {
        found ??= [];
        this.#collect(node, host, end, found);
        return found;
      }
      node = this.#childOf(node, host, start, end);
      if (!node) break;
      for (const value of node.values) {
        found ??= [];
        found.push(value);
      }
      end = start - 1;
    }
    return found ?? NOTHING;
  }

  /** `end` is where the labels still to be read end; the last of them stands before it. */
  #descend(node: Node<T>, host: string, end: number, depth: number, best: Best<T>): void {
    if (node.values.length > 0 && depth > best.depth) {
      best.depth = depth;
      best.values = node.values;
    }
    if (end <= 0) return;
    const start = startOfLabel(host, end);
    const child = this.#childOf(node, host, start, end);
    if (child) this.#descend(child, host, start - 1, depth + 1, best);
    for (const glob of fittingGlobs(node, host, start, end)) {
      this.#descend(glob.node, host, start - 1, depth + 1, best);
    }
  }

  /** The values of every pattern below a node, whichever way leads to it. */
  #collect(node: Node<T>, host: string, end: number, found: T[]): void {
    if (end <= 0) return;
    const start = startOfLabel(host, end);
    const child = this.#childOf(node, host, start, end);
    for (const next of [...(child ? [child] : []), ...fittingGlobs(node, host, start, end).map((glob) => glob.node)]) {
      found.push(...next.values);
      this.#collect(next, host, start - 1, found);
    }
  }

  #childOf(parent: Node<T>, host: string, start: number, end: number): Node<T> | undefined {
    return this.#childAt(hashOf(parent.seed, host, start, end), parent, host, start, end);
  }

  /** A label is compared where it stands in the host: to cut it out costs more than all the rest. */
  #childAt(hash: number, parent: Node<T>, host: string, start: number, end: number): Node<T> | undefined {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (2 * hash) & mask; slots[slot] !== 0; slot = (slot + 2) & mask) {
      if (slots[slot + 1] !== hash) continue;
      const node = this.#nodes[(slots[slot] as number) - 1];
      if (node?.parent === parent && isLabel(node.label, host, start, end)) return node;
    }
    return undefined;
  }

  #plainChild(parent: Node<T>, label: string): Node<T> {
    const known = this.#childOf(parent, label, 0, label.length);
    if (known) return known;
    const created = createNode<T>(label, parent, hashOf(parent.seed, label, 0, label.length));
    this.#nodes.push(created);
    if (this.#nodes.length * 4 > this.#slots.length) this.#grow();
    else this.#place(created, this.#nodes.length);
    return created;
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (const [i, node] of this.#nodes.entries()) this.#place(node, i + 1);
  }

  #place({ seed: hash }: Node<T>, place: number): void {
    const mask = this.#slots.length - 1;
    let slot = (2 * hash) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 2) & mask;
    this.#slots[slot] = place;
    this.#slots[slot + 1] = hash;
  }

  #globChild(parent: Node<T>, label: string): Node<T> {
    const parts = label.split('*');
    const prefix = parts[0] ?? '';
    const siblings = parent.globs.get(prefix) ?? [];
    const known = siblings.find((glob) => glob.label === label);
    if (known) return known.node;
    this.#globCount++;
    const created = createNode<T>(label, parent, Math.imul(SEED ^ this.#globCount, PRIME));
    siblings.push({ label, parts, node: created });
    // Longest first: of two globs that both match, the one that says more wins.
    siblings.sort((a, b) => b.label.length - a.label.length || (a.label < b.label ? -1 : 1));
    parent.globs.set(prefix, siblings);
    parent.globStarts ??= new Uint8Array(ASCII);
    if (prefix === '') parent.globStarts.fill(1);
    else parent.globStarts[prefix.charCodeAt(0)] = 1;
    if (!parent.globPrefixLengths.includes(prefix.length)) {
      parent.globPrefixLengths.push(prefix.length);
      parent.globPrefixLengths.sort((a, b) => b - a);
    }
    return created;
  }
}

function createNode<T>(label: string, parent: Node<T> | undefined, seed: number): Node<T> {
  return { label, parent, seed, values: [], globStarts: undefined, globs: new Map(), globPrefixLengths: [] };
}

/** Where the label begins that ends before `end`. */
function startOfLabel(host: string, end: number): number {
  let start = end;
  while (start > 0 && host.charCodeAt(start - 1) !== DOT) start--;
  return start;
}

function isLabel(label: string, host: string, start: number, end: number): boolean {
  if (label.length !== end - start) return false;
  for (let i = 0; i < label.length; i++) if (label.charCodeAt(i) !== host.charCodeAt(start + i)) return false;
  return true;
}

/** From its end to its beginning, as hosts are read; the dot first, so that `ab` below `c` is not `b` below `ac`. */
function hashOf(seed: number, text: string, start: number, end: number): number {
  let hash = hashAfter(seed, DOT);
  for (let i = end - 1; i >= start; i--) hash = hashAfter(hash, text.charCodeAt(i));
  return hash;
}

function hashAfter(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

function mayFitGlob<T>({ globStarts }: Node<T>, host: string, start: number): boolean {
  // Outside of ASCII nothing is passed over.
  return globStarts !== undefined && globStarts[host.charCodeAt(start)] !== 0;
}

/** Globs that fit the label from `start` to `end`, the longest first: of two the one that says more is tried first. */
function fittingGlobs<T>(node: Node<T>, host: string, start: number, end: number): readonly Glob<T>[] {
  if (!mayFitGlob(node, host, start)) return NOTHING;
  const { globs, globPrefixLengths } = node;
  const label = host.slice(start, end);
  let fitting: Glob<T>[] | undefined;
  for (const length of globPrefixLengths) {
    for (const glob of globs.get(label.slice(0, length)) ?? NOTHING) {
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
