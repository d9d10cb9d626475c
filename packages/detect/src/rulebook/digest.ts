// A short digest for comparisons, not for security: the version of a rulebook, the identity of a set of ranges.

/** Two 32-bit FNV-1a sums, the second over value and position: 64 bits against accidents, none against malice. */
export class Digest {
  #low = 0x811c9dc5;
  #high = 0x9747b28c;
  #count = 0;

  addText(text: string): this {
    for (let i = 0; i < text.length; i++) this.#add(text.charCodeAt(i));
    return this;
  }

  addWords(words: ArrayLike<number>): this {
    for (let i = 0; i < words.length; i++) this.#add(words[i] ?? 0);
    return this;
  }

  /** Sixteen hex digits. */
  get hex(): string {
    return `${hexOf(this.#high)}${hexOf(this.#low)}`;
  }

  #add(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x01000193);
    this.#high = Math.imul(this.#high ^ (value + this.#count), 0x01000193);
    this.#count += 1;
  }
}

function hexOf(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
