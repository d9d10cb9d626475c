// Substring search of names: for every run of one or three characters the set of domains whose name contains it. A run
// of two is joined from those of three that begin with it: the end of the name counts as a character.

import { bytesOf } from '../columns/byte-text.ts';
import type { NameTable } from '../columns/name-table.ts';
import { buildSets } from '../sets/build-sets.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import { intersection, union } from '../sets/set-operations.ts';

/** a–z, 0–9, hyphen, dot, underscore, and one code for all other characters. */
const ALPHABET = 40;
const OTHER = 39;
const LONGEST = 3;
/** The last character of a run of three: one of the alphabet, or the end of the name. */
const LAST = ALPHABET + 1;
const END = ALPHABET;
/** Runs of one character have its code; then come those of three. */
const CODES = ALPHABET + ALPHABET ** 2 * LAST;
const codeOfThree = (first: number, second: number, third: number): number =>
  ALPHABET + (first * ALPHABET + second) * LAST + third;

export class NameGrams {
  #sets: (DomainSet | undefined)[] = new Array(CODES);

  /** Of all names at once. */
  static of(names: NameTable): NameGrams {
    const grams = new NameGrams();
    grams.#sets = buildSets(CODES, names.limit, (visit) => {
      names.each((number, bytes, from, to) => {
        let before = 0;
        let beforeThat = 0;
        for (let i = from; i < to; i += 1) {
          const code = CODE_OF[bytes[i] as number] as number;
          visit(code, number);
          if (i > from + 1) visit(codeOfThree(beforeThat, before, code), number);
          beforeThat = before;
          before = code;
        }
        if (to > from + 1) visit(codeOfThree(beforeThat, before, END), number);
      });
    });
    return grams;
  }

  add(number: number, name: string): void {
    for (const code of codesIn(name)) this.#set(code).add(number);
  }

  remove(number: number, name: string): void {
    for (const code of codesIn(name)) this.#set(code).delete(number);
  }

  /** Domains whose name contains each of the words, in any order. Words are lower-case, with blanks between them. */
  search(words: string, names: NameTable): DomainSet {
    const exact: DomainSet[] = [];
    const partial: DomainSet[] = [];
    const compared: Uint8Array[] = [];
    for (const word of new Set(words.split(' ').filter(Boolean))) {
      const sets = this.#runs(word);
      if (sets === undefined) return new DomainSet();
      const isExact = word.length <= LONGEST && !hasOther(word);
      (isExact ? exact : partial).push(...sets);
      if (!isExact) compared.push(bytesOf(word));
    }
    // The three or four rarest runs leave few candidates; comparing names decides among them.
    const rarest = partial.sort((a, b) => a.size - b.size).slice(0, 4);
    const [first = new DomainSet(), ...rest] = [...exact, ...rarest].sort((a, b) => a.size - b.size);
    const candidates = rest.reduce(
      (found, set) => (found.size < 64 && !exact.includes(set) ? found : intersection(found, set)),
      first,
    );
    if (compared.length === 0) return candidates;
    const found = new DomainSet();
    candidates.each((number) => {
      if (compared.every((bytes) => names.includes(number, bytes))) found.add(number);
    });
    return found;
  }

  get byteLength(): number {
    return sizeOfSets(this.#sets);
  }

  /** The set of each run of the word; undefined if a run is in no name. */
  #runs(word: string): DomainSet[] | undefined {
    const codes = codesOf(word);
    const [first = 0, second = 0] = codes;
    if (codes.length === 1) return this.#filled([first]);
    if (codes.length === 2) {
      const begun = codeOfThree(first, second, 0);
      const joined = union(this.#sets.slice(begun, begun + LAST).filter((set) => set !== undefined));
      return joined.size > 0 ? [joined] : undefined;
    }
    return this.#filled(runsOf(codes));
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

/** Codes of its runs of one and three characters, with duplicates. */
function codesIn(name: string): number[] {
  const codes = codesOf(name);
  return [...codes, ...runsOf(codes.length > 1 ? [...codes, END] : [])];
}

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
