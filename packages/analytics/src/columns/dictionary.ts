// Numbers for strings, in the order of first use.

export class Dictionary {
  readonly #numbers = new Map<string, number>();
  readonly #words: string[] = [];

  constructor(words: Iterable<string> = []) {
    for (const word of words) this.number(word);
  }

  get size(): number {
    return this.#words.length;
  }

  /** The string's number, assigned on first use. */
  number(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    this.#numbers.set(word, this.#words.length);
    this.#words.push(word);
    return this.#words.length - 1;
  }

  find(word: string): number | undefined {
    return this.#numbers.get(word);
  }

  word(number: number): string {
    const word = this.#words[number];
    if (word === undefined) throw new RangeError(`no word has the number ${number}`);
    return word;
  }

  words(): readonly string[] {
    return this.#words;
  }
}
