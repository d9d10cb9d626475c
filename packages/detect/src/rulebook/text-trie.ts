// Text patterns as a trie over characters: a search takes time in proportion to the text, not to the number of rules.

interface Node<T> {
  /** The characters between the parent node and this one, compared at once: patterns share prefixes and little else. */
  edge: string;
  /** By the first character of their edges. */
  readonly next: Map<number, Node<T>>;
  readonly values: T[];
}

const NOTHING: readonly never[] = [];
const UNDERSCORE = 95;
const LETTER = /\p{L}/u;

/** Maps texts to values. Comparison is exact; for case-insensitive comparison the caller lower-cases both sides. */
export class TextTrie<T> {
  readonly #root = createNode<T>('');
  #size = 0;
  /** Whether a pattern begins with the character, for the first 128: skips most positions of a text. */
  readonly #begins = new Uint8Array(128);

  get size(): number {
    return this.#size;
  }

  add(text: string, value: T): void {
    if (text.length > 0) this.#begins[text.charCodeAt(0)] = 1;
    let node = this.#root;
    for (let at = 0; at < text.length; at += node.edge.length) node = nextNode(node, text, at);
    node.values.push(value);
    this.#size++;
  }

  /** Values of the longest pattern that occurs in `text` at `from`. */
  findAt(text: string, from = 0): readonly T[] {
    return this.#longestAt(text, from, isAnywhere);
  }

  /** Values of the longest pattern that occurs in `text` at `from` and ends where a word ends: `koa` is not in `koala`. */
  findWordAt(text: string, from = 0): readonly T[] {
    return this.#longestAt(text, from, isBoundary);
  }

  /** Values of the longest pattern of complete words at every position in `text`, each once: `xh2o/1` has no `h2o/`. */
  findWords(text: string): readonly T[] {
    if (this.#size === 0) return NOTHING;
    let found: Set<T> | undefined;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 128 ? this.#begins[code] === 0 : !this.#root.next.has(code)) continue;
      if (isWordPart(code) && isWordPart(text.charCodeAt(i - 1))) continue;
      for (const value of this.findWordAt(text, i)) {
        found ??= new Set();
        found.add(value);
      }
    }
    return found ? [...found] : NOTHING;
  }

  #longestAt(text: string, from: number, mayEndAt: (text: string, at: number) => boolean): readonly T[] {
    let node = this.#root;
    let best: readonly T[] = NOTHING;
    for (let at = from; ; at += node.edge.length) {
      if (node.values.length > 0 && mayEndAt(text, at)) best = node.values;
      if (node.next.size === 0) return best;
      // Past the end charCodeAt is NaN, which no pattern contains.
      const next = node.next.get(text.charCodeAt(at));
      if (!next || !text.startsWith(next.edge, at)) return best;
      node = next;
    }
  }
}

function createNode<T>(edge: string): Node<T> {
  return { edge, next: new Map(), values: [] };
}

/** The node that `text` leads to from `at`; created if missing, and split if the text leaves its edge. */
function nextNode<T>(node: Node<T>, text: string, at: number): Node<T> {
  const code = text.charCodeAt(at);
  const known = node.next.get(code);
  if (!known) {
    const leaf = createNode<T>(text.slice(at));
    node.next.set(code, leaf);
    return leaf;
  }
  const { edge } = known;
  let shared = 1;
  while (shared < edge.length && edge[shared] === text[at + shared]) shared++;
  if (shared === edge.length) return known;
  const split = createNode<T>(edge.slice(0, shared));
  known.edge = edge.slice(shared);
  split.next.set(known.edge.charCodeAt(0), known);
  node.next.set(code, split);
  return split;
}

function isAnywhere(): boolean {
  return true;
}

/** Not between two parts of a word. A number after a letter begins a version: `apache2` has the word `apache`. */
function isBoundary(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return !isWordPart(before) || !isWordPart(after) || (isDigit(after) && !isDigit(before));
}

/** A letter of any script, a digit or an underscore; no position outside of a text (NaN). */
function isWordPart(code: number): boolean {
  if (code >= 128) return LETTER.test(String.fromCharCode(code));
  return isDigit(code) || code === UNDERSCORE || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
