// Text patterns as a trie over characters: prefixes and fragments are found in the text's own length, not the rules'.

interface Node<T> {
  readonly next: Map<number, Node<T>>;
  values: T[];
}

const NOTHING: readonly never[] = [];

/** Maps texts to values. Comparison is exact: a caller that wants it case-insensitive lower-cases both sides. */
export class TextTrie<T> {
  readonly #root: Node<T> = { next: new Map(), values: [] };
  #size = 0;
  /** Whether a pattern begins with the character, of the first 128: most places of a text are passed over by it. */
  readonly #begins = new Uint8Array(128);

  get size(): number {
    return this.#size;
  }

  add(text: string, value: T): void {
    let node = this.#root;
    if (text.length > 0) this.#begins[text.charCodeAt(0)] = 1;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      let next = node.next.get(code);
      if (!next) {
        next = { next: new Map(), values: [] };
        node.next.set(code, next);
      }
      node = next;
    }
    node.values.push(value);
    this.#size++;
  }

  /** Values of the longest pattern that stands in `text` at `from`. */
  findAt(text: string, from = 0): readonly T[] {
    let node: Node<T> | undefined = this.#root;
    let best: readonly T[] = NOTHING;
    for (let i = from; node; i++) {
      if (node.values.length > 0) best = node.values;
      // Past the end charCodeAt is NaN, which no pattern holds.
      node = node.next.get(text.charCodeAt(i));
    }
    return best;
  }

  /** Values of the longest pattern at every place of `text` where a word begins, each once: `h2o/` is not in `xh2o/1`. */
  findWords(text: string): readonly T[] {
    if (this.#size === 0) return NOTHING;
    let found: Set<T> | undefined;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 128 ? this.#begins[code] === 0 : !this.#root.next.has(code)) continue;
      if (i > 0 && isWordPart(text.charCodeAt(i - 1)) && isWordPart(code)) continue;
      for (const value of this.findAt(text, i)) {
        found ??= new Set();
        found.add(value);
      }
    }
    return found ? [...found] : NOTHING;
  }
}

/** ASCII letters and digits. */
function isWordPart(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
