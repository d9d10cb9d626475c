// Substring search of names: for every run of three characters the set of domains whose name contains it; the end of the
// name counts as a character. A run of one or two is joined from those of three that begin with it.
import { bytesOf } from '../columns/byte-text.ts';
import type { NameTable } from '../columns/name-table.ts';
import { buildSets } from '../sets/build-sets.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import { difference, filter, intersection, union } from '../sets/set-operations.ts';
import type { TldSets } from './tld-sets.ts';

/** a–z, 0–9, hyphen, dot, underscore, and one code for all other characters. */
const ALPHABET = 40;
const OTHER = 39;
const LONGEST = 3;
/** The last character of a run of three: one of the alphabet, or the end of the name. */
const LAST = ALPHABET + 1;
const END = ALPHABET;
const CODES = ALPHABET ** 2 * LAST;
const codeOfThree = (first: number, second: number, third: number): number =>
  (first * ALPHABET + second) * LAST + third;
/** Searches whose domains are kept: of few characters the sets of many runs are joined, of more many names are read. */
const MAX_KEPT = 16;
/** Of the sets of these searches: a list has up to 4 bytes per domain. */
const MAX_KEPT_BYTES = 1 << 25;

export class NameGrams {
  readonly #sets: (DomainSet | undefined)[];
  /** The domains with the words that were asked for last, the latest at the end. */
  readonly #kept = new Map<string, DomainSet>();

  /** Takes ownership of the sets by code. */
  constructor(sets: (DomainSet | undefined)[] = []) {
    this.#sets = sets;
    this.#sets.length = CODES;
  }

  /** Of all names at once. */
  static of(names: NameTable): NameGrams {
    const sets = buildSets(CODES, names.limit, (visit) => {
      names.each((number, bytes, from, to) => {
        let before = 0;
        let beforeThat = 0;
        for (let i = from; i < to; i += 1) {
          const code = CODE_OF[bytes[i] as number] as number;
          if (i > from + 1) visit(codeOfThree(beforeThat, before, code), number);
          beforeThat = before;
          before = code;
        }
        if (to > from + 1) visit(codeOfThree(beforeThat, before, END), number);
      });
    });
    return new NameGrams(sets);
  }

  /** By code, for a snapshot. */
  get sets(): readonly (DomainSet | undefined)[] {
    return this.#sets;
  }

  add(number: number, name: string): void {
    for (const code of codesIn(name)) this.#set(code).add(number);
    for (const [words, set] of this.#kept) if (words.split(' ').every((word) => name.includes(word))) set.add(number);
  }

  remove(number: number, name: string): void {
    for (const code of codesIn(name)) this.#set(code).delete(number);
    for (const set of this.#kept.values()) set.delete(number);
  }

  /** Domains whose name contains each of the words, in any order. Words are lower-case, with blanks between them. */
  search(words: string, names: NameTable, tlds: TldSets): DomainSet {
    const all = [...new Set(words.split(' ').filter(Boolean))];
    return all.length === 0 ? new DomainSet() : this.#keep(all.join(' '), () => this.#search(all, names, tlds));
  }

  get byteLength(): number {
    return sizeOfSets(this.#sets) + this.#keptBytes;
  }

  get #keptBytes(): number {
    return sizeOfSets([...this.#kept.values()]);
  }

  #search(words: readonly string[], names: NameTable, tlds: TldSets): DomainSet {
    const exact: DomainSet[] = [];
    const partial: DomainSet[] = [];
    const compared: string[] = [];
    for (const word of words) {
      const sets = this.#runs(word);
      if (sets === undefined) return new DomainSet();
      const isExact = word.length <= LONGEST && !hasOther(word);
      (isExact ? exact : partial).push(...sets);
      if (!isExact) compared.push(word);
    }
    // The three or four rarest runs leave few candidates; comparing names decides among them.
    const rarest = partial.sort((a, b) => a.size - b.size).slice(0, 4);
    const [first = new DomainSet(), ...rest] = [...exact, ...rarest].sort((a, b) => a.size - b.size);
    const candidates = rest.reduce(
      (found, set) => (found.size < 64 && !exact.includes(set) ? found : intersection(found, set)),
      first,
    );
    if (compared.length === 0) return candidates;
    // Most names with `.com` end with it: they need no comparison.
    const certain = compared.map((word) => tlds.beginningWith(word)).reduce(intersection, candidates);
    const parts = compared.map(bytesOf);
    const hasAll = (number: number) => parts.every((bytes) => names.includes(number, bytes));
    return union([certain, DomainSet.ofSorted(difference(candidates, certain).toArray().filter(hasAll))]);
  }

  /** The set of each run of the word; undefined if a run is in no name. */
  #runs(word: string): DomainSet[] | undefined {
    if (word.length >= LONGEST) return this.#filled(runsOf(codesOf(word)));
    const join = () => union(this.#beginning(word));
    // The set of a rare character includes other characters with the same code.
    const joined = hasOther(word) ? join() : this.#keep(word, join);
    return joined.size > 0 ? [joined] : undefined;
  }

  /** The set of the words, found if it is not kept. */
  #keep(words: string, find: () => DomainSet): DomainSet {
    // A copy: the set may be that of a run.
    const set = this.#kept.get(words) ?? filter([find()], []);
    this.#kept.delete(words);
    this.#kept.set(words, set);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
    }
    return set;
  }

  /** The sets of the runs of three that begin with one or two characters, and those of names that end with one. */
  #beginning(word: string): DomainSet[] {
    const [first = 0, second] = codesOf(word);
    const [from, to] = second === undefined ? [0, ALPHABET] : [second, second + 1];
    const begun = this.#sets.slice(codeOfThree(first, from, 0), codeOfThree(first, to, 0));
    for (let before = 0; second === undefined && before < ALPHABET; before += 1)
      begun.push(this.#sets[codeOfThree(before, first, END)]);
    return begun.filter((set) => set !== undefined);
  }

  /** Undefined if one has no members. */
  #filled(codes: readonly number[]): DomainSet[] | undefined {
    const sets = codes.map((code) => this.#sets[code]).filter((set) => set !== undefined && set.size > 0);
    return sets.length === codes.length ? (sets as DomainSet[]) : undefined;
  }

  #set(code: number): DomainSet {
    const known = this.#sets[code];
    if (known) return known;
    const made = new DomainSet();
    this.#sets[code] = made;
    return made;
  }
}

const codesOf = (text: string): number[] => Array.from({ length: text.length }, (_, i) => codeOf(text.charCodeAt(i)));

/** Codes of its runs of three characters, with duplicates. */
const codesIn = (name: string): number[] => runsOf([...codesOf(name), END]);

/** Codes of the runs of three of these characters. */
function runsOf(codes: readonly number[]): number[] {
  return codes.slice(LONGEST - 1).map((code, i) => codeOfThree(codes[i] as number, codes[i + 1] as number, code));
}

function hasOther(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (codeOf(text.charCodeAt(i)) === OTHER) return true;
  return false;
}

/** By byte. */
const CODE_OF = Uint8Array.from({ length: 256 }, (_, char) => {
  if (char >= 97 && char <= 122) return char - 97;
  if (char >= 48 && char <= 57) return char - 48 + 26;
  const index = [45, 46, 95].indexOf(char);
  return index < 0 ? OTHER : 36 + index;
});

/** Of a UTF-16 unit. */
function codeOf(unit: number): number {
  return unit < 128 ? (CODE_OF[unit] as number) : OTHER;
}
