// A set of fixed strings, found in text that may end in the middle of one.

export class Marks {
  readonly #pattern: RegExp;
  /** Proper prefixes of the marks. */
  readonly #prefixes = new Set<string>();
  /** Of the longest mark. */
  readonly maxLength: number;

  constructor(marks: Iterable<string>) {
    const all = [...new Set(marks)].filter((mark) => mark !== '').sort((a, b) => b.length - a.length);
    // Of several marks at one position the longest is found. Without marks nothing is.
    this.#pattern = new RegExp(all.length === 0 ? '(?!)' : all.map(RegExp.escape).join('|'), 'g');
    this.maxLength = all[0]?.length ?? 0;
    for (const mark of all) for (let i = 1; i < mark.length; i += 1) this.#prefixes.add(mark.slice(0, i));
  }

  /**
   * The first mark and its position; without a mark the position from which on the text may still become
   * one.
   */
  first(text: string, isEnded: boolean): { readonly at: number; readonly mark?: string } {
    this.#pattern.lastIndex = 0;
    const found = this.#pattern.exec(text);
    const limit = found?.index ?? text.length - 1;
    for (let at = Math.max(0, text.length - this.maxLength + 1); !isEnded && at <= limit; at += 1)
      if (this.#prefixes.has(text.slice(at))) return { at };
    return found ? { at: found.index, mark: found[0] } : { at: text.length };
  }

  /** The longest mark that the text begins with; null if more text decides. */
  here(text: string, isEnded: boolean): string | null | undefined {
    const rest = text.slice(0, this.maxLength);
    if (!isEnded && rest.length === text.length && (rest === '' ? this.maxLength > 0 : this.#prefixes.has(rest)))
      return null;
    this.#pattern.lastIndex = 0;
    const found = this.#pattern.exec(rest);
    return found?.index === 0 ? found[0] : undefined;
  }
}
