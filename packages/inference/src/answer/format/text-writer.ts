// Emits text and reasoning without the space around marks.
import type { CallWriter } from './calls/call-writer.ts';
import type { HeldText } from './held-text.ts';

export interface TextWriterOptions {
  /** The space before a call is not text. */
  readonly trimsCalls: boolean;
  /** The space at the end of reasoning belongs to it. */
  readonly keepsSpace: boolean;
  /** Reasoning is text, with its marks. */
  readonly keepsReasoning: boolean;
}

/** More space than this is text. */
const MAX_SPACE = 4_096;

export class TextWriter {
  readonly #held: HeldText;
  readonly #calls: CallWriter;
  readonly #options: TextWriterOptions;
  #kind: 'text' | 'reasoning' = 'text';
  /** Space that is not emitted yet. */
  #space = '';
  /** The position of its end. */
  #end = 0;
  #isBlank = true;
  #isLineStart = true;
  /** Whether the space at the beginning of this text follows a mark. */
  #isAfterMark = false;

  constructor(held: HeldText, calls: CallWriter, options: TextWriterOptions) {
    this.#held = held;
    this.#calls = calls;
    this.#options = options;
  }

  /** Whether there was no text but space since the last mark. */
  get isBlank(): boolean {
    return this.#isBlank;
  }

  /** Whether there was nothing but space since the last mark or line break. */
  get isLineStart(): boolean {
    return this.#isLineStart;
  }

  write(from: number, to: number, kind: 'text' | 'reasoning' = 'text'): void {
    if (kind === 'reasoning' && this.#options.keepsReasoning) {
      this.#calls.write('kept', this.#held.shown(from, to), to);
      return;
    }
    if (kind !== this.#kind) this.#begin(kind);
    const shown = this.#held.shown(from, to);
    const line = shown.slice(shown.lastIndexOf('\n') + 1);
    this.#isLineStart = line.trimStart() === '' && (this.#isLineStart || line.length < shown.length);
    const all = this.#space + shown;
    const hasText = all.trimStart() !== '';
    const holdsEnd = kind === 'reasoning' || this.#options.trimsCalls || (this.#isBlank && !hasText);
    const end = holdsEnd ? all.trimEnd().length : all.length;
    const isDecided = end > 0 || all.length > MAX_SPACE;
    this.#space = isDecided ? all.slice(end) : all;
    this.#end = to;
    if (!isDecided) return;
    const text = this.#isBlank && this.#isAfterMark ? all.slice(0, end).trimStart() : all.slice(0, end);
    this.#calls.write(kind, text, to - this.#space.length);
    this.#isBlank = false;
  }

  /** Before a call. */
  leaveForCall = (): void => {
    if (this.#options.trimsCalls || this.#isBlank) this.#space = '';
    this.#begin('text');
  };

  /** After the mark that ends the reasoning, or before another that separates texts. */
  leave(): void {
    const isKept = this.#kind === 'reasoning' && this.#options.keepsSpace;
    if (!isKept && (this.#kind === 'reasoning' || this.#isBlank)) this.#space = '';
    this.#begin('text');
  }

  /** After a mark of reasoning. */
  leaveMark(from: number, to: number): void {
    if (this.#options.keepsReasoning) {
      // What is kept is text as it was written, with the space around it.
      this.#begin('text');
      this.#isAfterMark = false;
      this.#held.show(from, to);
      this.write(from, to, 'reasoning');
    } else this.leave();
  }

  /** Ends the answer. */
  end(): void {
    if (this.#kind === 'reasoning' || (this.#isBlank && this.#isAfterMark)) this.#space = '';
    this.#begin('text');
  }

  #begin(kind: 'text' | 'reasoning'): void {
    this.#calls.write(this.#kind, this.#space, this.#end);
    this.#space = '';
    this.#kind = kind;
    this.#isBlank = true;
    this.#isLineStart = true;
    this.#isAfterMark = true;
  }
}
