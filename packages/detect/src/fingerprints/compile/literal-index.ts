// Searches many literals in one text at once: the automaton of Aho and Corasick (1975). One step per character,
// whatever
// the number of literals; ASCII letters match in any case.

/** Literals are ASCII; other characters lead back to the start. */
const ALPHABET = 128;
const ROOT = 0;
const FREE = -1;

/** Edges in one flat table with open addressing: a quarter of the memory of maps or dense rows. */
class EdgeTable {
  /** Keys exceed 32 bits from sixteen million nodes on. */
  readonly #keys: Float64Array;
  readonly #targets: Int32Array;
  readonly #mask: number;

  constructor(edges: ReadonlyMap<number, number>) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(8, edges.size * 2)));
    this.#keys = new Float64Array(size).fill(FREE);
    this.#targets = new Int32Array(size);
    this.#mask = size - 1;
    for (const [key, target] of edges) {
      let slot = slotOf(key) & this.#mask;
      while (this.#keys[slot] !== FREE) slot = (slot + 1) & this.#mask;
      this.#keys[slot] = key;
      this.#targets[slot] = target;
    }
  }

  /** The target of an edge, or -1. */
  follow(key: number): number {
    let slot = slotOf(key) & this.#mask;
    for (;;) {
      const found = this.#keys[slot];
      if (found === key) return this.#targets[slot] as number;
      if (found === FREE) return FREE;
      slot = (slot + 1) & this.#mask;
    }
  }
}

/** Finds the values that have one of their literals in a text. Immutable. */
export class LiteralIndex<T> {
  readonly #edges: EdgeTable;
  /** The edges of the start node, where most characters of a text lead. */
  readonly #start: Int32Array;
  readonly #fallback: Int32Array;
  /** The nearest node on the chain of fallbacks, including itself, at which a literal ends; -1 without one. */
  readonly #ending: Int32Array;
  readonly #values: readonly (readonly T[] | undefined)[];

  /** Literals are lower-case ASCII. Memory is proportional to their characters. */
  constructor(entries: Iterable<readonly [literal: string, value: T]>) {
    const edges = new Map<number, number>();
    const values: (T[] | undefined)[] = [undefined];
    for (const [literal, value] of entries) {
      let node = ROOT;
      for (let i = 0; i < literal.length; i++) {
        const key = node * ALPHABET + literal.charCodeAt(i);
        let next = edges.get(key);
        if (next === undefined) {
          next = values.push(undefined) - 1;
          edges.set(key, next);
        }
        node = next;
      }
      const ending = values[node];
      if (ending) ending.push(value);
      else values[node] = [value];
    }
    this.#values = values;
    this.#edges = new EdgeTable(edges);
    this.#start = Int32Array.from({ length: ALPHABET }, (_, code) => edges.get(ROOT * ALPHABET + code) ?? ROOT);
    this.#fallback = new Int32Array(values.length);
    this.#ending = new Int32Array(values.length).fill(FREE);
    this.#link(edges);
  }

  /** Parents have smaller numbers than children, but fallbacks are computed level by level. */
  #link(edges: ReadonlyMap<number, number>): void {
    const children = new Map<number, [code: number, node: number][]>();
    for (const [key, node] of edges) {
      const parent = Math.floor(key / ALPHABET);
      const edge: [number, number] = [key % ALPHABET, node];
      const known = children.get(parent);
      if (known) known.push(edge);
      else children.set(parent, [edge]);
    }
    let level: number[] = [ROOT];
    while (level.length > 0) {
      const next: number[] = [];
      for (const parent of level) {
        for (const [code, node] of children.get(parent) ?? []) {
          const fallback = parent === ROOT ? ROOT : this.#step(this.#fallback[parent] as number, code);
          this.#fallback[node] = fallback;
          this.#ending[node] = this.#values[node] ? node : (this.#ending[fallback] as number);
          next.push(node);
        }
      }
      level = next;
    }
  }

  #step(from: number, code: number): number {
    for (let node = from; node !== ROOT; node = this.#fallback[node] as number) {
      const next = this.#edges.follow(node * ALPHABET + code);
      if (next !== FREE) return next;
    }
    return this.#start[code] as number;
  }

  /** The values with a literal in `text`. Time is proportional to the text and to the number of results. */
  find(text: string): Set<T> {
    const found = new Set<T>();
    const visited = new Set<number>();
    let node = ROOT;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= ALPHABET) {
        node = ROOT;
        continue;
      }
      node = this.#step(node, code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
      // The literals of a node and of its chain are the same on every visit, so a second visit adds nothing.
      for (let end = this.#ending[node] as number; end !== FREE && !visited.has(end); ) {
        visited.add(end);
        for (const value of this.#values[end] ?? []) found.add(value);
        end = end === ROOT ? FREE : (this.#ending[this.#fallback[end] as number] as number);
      }
    }
    return found;
  }
}

/** Fibonacci hashing spreads neighbouring keys over the table. */
function slotOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> 7;
}
