// Generated text that arrives in pieces, read by generators: a reader yields where it needs more text, so it is written
// as if the complete text were there, and the result does not depend on the pieces.
import type { Marks } from './marks.ts';

/** Yields to wait for more text. */
export type Reading<Value = void> = Generator<undefined, Value, undefined>;

/** Maximum length of text that is kept back while it is undecided what it is. */
const MAX_HELD = 256 * 1024;

export class Cursor {
  /** All text from `#base` on; positions are absolute. */
  #text = '';
  #base = 0;
  #isEnded = false;
  /** Text that came from control tokens, as positions: it is never shown. */
  #controls: { readonly from: number; readonly to: number }[] = [];
  at = 0;
  /** Text from here on is kept, to be read again. */
  keptFrom: number | undefined;

  push(text: string, { isControl }: { readonly isControl: boolean }): void {
    const from = Math.min(this.keptFrom ?? this.at, this.at) - this.#base;
    this.#text = this.#text.slice(from) + text;
    this.#base += from;
    this.#controls = this.#controls.filter(({ to }) => to > this.#base);
    const end = this.#base + this.#text.length;
    if (isControl && text !== '') this.#controls.push({ from: end - text.length, to: end });
  }

  end(): void {
    this.#isEnded = true;
  }

  /** What has arrived from here on. */
  get rest(): string {
    return this.#text.slice(this.at - this.#base);
  }

  get isEmpty(): boolean {
    return this.at - this.#base >= this.#text.length;
  }

  /** The next UTF-16 unit; empty if it has not arrived. */
  get next(): string {
    return this.#text[this.at - this.#base] ?? '';
  }

  slice(from: number, to = this.at): string {
    return this.#text.slice(from - this.#base, to - this.#base);
  }

  /** The same without the text of control tokens. */
  shown(from: number, to = this.at): string {
    let text = '';
    let start = from;
    for (const control of this.#controls) {
      if (control.to <= start || control.from >= to) continue;
      text += this.slice(start, Math.max(start, control.from));
      start = Math.min(control.to, to);
    }
    return text + this.slice(start, to);
  }

  /** Waits for more text; false at the end, and when too much is kept back: the reader then takes what there is. */
  *more(): Reading<boolean> {
    if (this.#isEnded || (this.keptFrom !== undefined && this.at - this.keptFrom > MAX_HELD)) return false;
    yield;
    return true;
  }

  /** The next unit without passing it; empty at the end. */
  *peek(): Reading<string> {
    while (this.isEmpty) if (!(yield* this.more())) return '';
    return this.next;
  }

  /** The longest of these marks that the text continues with. */
  *markHere(marks: Marks): Reading<string | undefined> {
    for (;;) {
      const mark = marks.here(this.#text, this.at - this.#base, this.#isEnded);
      if (mark !== null) return mark;
      if (!(yield* this.more())) return marks.here(this.#text, this.at - this.#base, true) ?? undefined;
    }
  }

  /** Passes this mark if the text continues with it. */
  *pass(mark: string): Reading<boolean> {
    for (;;) {
      const start = this.at - this.#base;
      if (this.#text.startsWith(mark, start)) {
        this.at += mark.length;
        return true;
      }
      if (!mark.startsWith(this.#text.slice(start)) || !(yield* this.more())) return false;
    }
  }

  *passSpace(): Reading {
    while (/\s/.test(yield* this.peek())) this.at += 1;
  }

  /**
   * Passes text up to one of the marks, not including it, or up to the end. `onText` receives the text as soon as it is
   * decided; above `max` characters nothing further is read.
   */
  *until(marks: Marks, { onText, max }: UntilOptions = {}): Reading<string | undefined> {
    const start = this.at;
    for (;;) {
      const from = this.at;
      const { at, mark } = marks.first(this.#text, from - this.#base, this.#isEnded);
      this.at = at + this.#base;
      if (this.at > from) onText?.(from, this.at);
      if (mark !== undefined) return mark;
      if (max !== undefined && this.at - start > max) return undefined;
      if (yield* this.more()) continue;
      const decided = this.at;
      this.at = this.#base + this.#text.length;
      if (this.at > decided) onText?.(decided, this.at);
      return undefined;
    }
  }

  /** The same, with the text. */
  *taking(
    marks: Marks,
    options: UntilOptions = {},
  ): Reading<{ readonly text: string; readonly mark: string | undefined }> {
    const from = this.at;
    const kept = this.keptFrom;
    this.keptFrom ??= from;
    const mark = yield* this.until(marks, options);
    this.keptFrom = kept;
    return { text: this.slice(from), mark };
  }
}

export interface UntilOptions {
  readonly onText?: (from: number, to: number) => void;
  readonly max?: number;
}
