// Substring search of names: for every run of one, two or three characters the set of domains whose name contains it.

import { bytesOf } from '../columns/byte-text.ts';
import type { NameTable } from '../columns/name-table.ts';
import { buildSets } from '../sets/build-sets.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import { intersection } from '../sets/set-operations.ts';

/** a–z, 0–9, hyphen, dot, underscore, and one code for all other characters. */
const ALPHABET = 40;
const OTHER = 39;
const LONGEST = 3;
/** The first code of runs of each length. */
const OF_TWO = ALPHABET;
const OF_THREE = ALPHABET + ALPHABET ** 2;
const OFFSETS = [0, 0, OF_TWO, OF_THREE] as const;
const CODES = OF_THREE + ALPHABET ** 3;

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
          if (i > from) visit(OF_TWO + before * ALPHABET + code, number);
          if (i > from + 1) visit(OF_THREE + (beforeThat * ALPHABET + before) * ALPHABET + code, number);
          beforeThat = before;
          before = code;
        }
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
    const length = Math.min(word.length, LONGEST);
    const sets: DomainSet[] = [];
    for (let i = 0; i + length <= word.length; i += 1) {
      const set = this.#sets[(OFFSETS[length] as number) + gramCode(word, i, length)];
      if (!set || set.size === 0) return undefined;
      sets.push(set);
    }
    return sets;
  }

  #set(code: number): DomainSet {
    const known = this.#sets[code];
    if (known) return known;
    const made = new DomainSet();
    this.#sets[code] = made;
    return made;
  }
}

/** Codes of its runs of one, two and three characters, with duplicates. */
function codesIn(name: string): number[] {
  const codes: number[] = [];
  let before = 0;
  let beforeThat = 0;
  for (let i = 0; i < name.length; i += 1) {
    const code = codeOf(name.charCodeAt(i));
    codes.push(code);
    if (i >= 1) codes.push(OF_TWO + before * ALPHABET + code);
    if (i >= 2) codes.push(OF_THREE + (beforeThat * ALPHABET + before) * ALPHABET + code);
    beforeThat = before;
    before = code;
  }
  return codes;
}

function gramCode(text: string, from: number, length: number): number {
  let code = 0;
  for (let i = from; i < from + length; i += 1) code = code * ALPHABET + codeOf(text.charCodeAt(i));
  return code;
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
