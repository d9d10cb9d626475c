// Generated text that has arrived and is still needed. Positions count from the beginning of the answer.

export class HeldText {
  /** All text from `#base` on. */
  #text = '';
  #base = 0;
  #isEnded = false;
  /** Text that came from control tokens, as positions: it is never shown. */
  #controls: { readonly from: number; readonly to: number }[] = [];

  /** Adds text, and forgets what is before `keptFrom`. */
  push(text: string, { isControl, keptFrom }: { readonly isControl: boolean; readonly keptFrom: number }): void {
    this.#text = this.#text.slice(keptFrom - this.#base) + text;
    this.#base = keptFrom;
    this.#controls = this.#controls.filter(({ to }) => to > keptFrom);
    if (isControl && text !== '') this.#controls.push({ from: this.length - text.length, to: this.length });
  }

  isControl(at: number): boolean {
    return this.#controls.some(({ from, to }) => from <= at && at < to);
  }

  /** The text of control tokens in this range is shown. */
  show(from: number, to: number): void {
    this.#controls = this.#controls.filter((each) => each.to <= from || each.from >= to);
  }

  end(): void {
    this.#isEnded = true;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The position of its end. */
  get length(): number {
    return this.#base + this.#text.length;
  }

  slice(from: number, to = this.length): string {
    return this.#text.slice(from - this.#base, to - this.#base);
  }

  /** The same without the text of control tokens. */
  shown(from: number, to: number): string {
    let text = '';
    let start = from;
    for (const control of this.#controls) {
      if (control.to <= start || control.from >= to) continue;
      text += this.slice(start, Math.max(start, control.from));
      start = Math.min(control.to, to);
    }
    return text + this.slice(start, to);
  }
}
