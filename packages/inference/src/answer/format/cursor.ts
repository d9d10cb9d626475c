// Generated text that arrives in pieces, read by generators: a reader yields where it needs more text, so it is written
// as if the complete text were there, and the result does not depend on the pieces.
import type { HeldText } from './held-text.ts';
import type { Marks } from './marks.ts';

/** Yields to wait for more text. */
export type Reading<Value = void> = Generator<undefined, Value, undefined>;

/** Maximum length of text that is kept back while it is undecided what it is. */
const MAX_HELD = 128 * 1024;

export class Cursor {
  readonly #held: HeldText;
  #at = 0;
  /** The last position that was read since this was set. */
  furthest = 0;
  /** Text from here on is kept, to be read again. */
  keptFrom: number | undefined;
  /** The same, for a reader around other readers. */
  pinnedFrom: number | undefined;

  constructor(held: HeldText) {
    this.#held = held;
  }

  get at(): number {
    return this.#at;
  }

  set at(position: number) {
    this.#at = position;
    if (position > this.furthest) this.furthest = position;
  }

  /** Text before this position is not needed any more. */
  get kept(): number {
    return Math.min(this.at, this.keptFrom ?? this.at, this.pinnedFrom ?? this.at);
  }

  /** Whether what is kept back has become too much, so that the reader does not get what follows. */
  get isFull(): boolean {
    return !this.#held.isEnded && this.at - this.kept > MAX_HELD;
  }

  /** What has arrived from here on. */
  get rest(): string {
    return this.#held.slice(this.at);
  }

  slice(from: number, to = this.at): string {
    return this.#held.slice(from, to);
  }

  /** Waits for more text; false at the end, and when too much is kept back: the reader then takes what there is. */
  *more(): Reading<boolean> {
    if (this.#held.isEnded || this.isFull) return false;
    yield;
    return true;
  }

  /** The next unit without passing it; empty at the end. */
  *peek(): Reading<string> {
    while (this.at >= this.#held.length) if (!(yield* this.more())) return '';
    return this.#held.slice(this.at, this.at + 1);
  }

  /** The longest of these marks that the text continues with. */
  *markHere(marks: Marks): Reading<string | undefined> {
    for (;;) {
      const mark = marks.here(this.rest, this.#held.isEnded);
      if (mark !== null) return mark;
      if (!(yield* this.more())) return marks.here(this.rest, true) ?? undefined;
    }
  }

  /** Passes this mark if the text continues with it. */
  *pass(mark: string): Reading<boolean> {
    for (;;) {
      const { rest } = this;
      if (rest.startsWith(mark)) {
        this.at += mark.length;
        return true;
      }
      if (!mark.startsWith(rest) || !(yield* this.more())) return false;
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
      const left = max === undefined ? Number.POSITIVE_INFINITY : start + max - from + marks.maxLength;
      const isCut = from + left < this.#held.length;
      const { at, mark } = marks.first(
        isCut ? this.#held.slice(from, from + left) : this.rest,
        this.#held.isEnded || isCut,
      );
      this.at = from + at;
      if (this.at > from) onText?.(from, this.at);
      if (max !== undefined && this.at - start >= max) return undefined;
      if (mark !== undefined) return mark;
      if (yield* this.more()) continue;
      if (this.isFull) return undefined;
      const decided = this.at;
      this.at = this.#held.length;
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
