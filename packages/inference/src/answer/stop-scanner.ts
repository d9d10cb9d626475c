// Stop strings in a stream: what might still become one is held back, so that not a letter of it is ever sent.

export interface Scanned {
  /** What may be sent. */
  readonly text: string;
  /** The stop string that ended the answer; nothing after it is told. */
  readonly stop?: string;
}

export class StopScanner {
  readonly #stops: readonly string[];
  #held = '';
  #isStopped = false;

  /** Empty stop strings stop nothing. */
  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /** Takes more text. Of several stop strings the one that begins first ends the answer, of those the longest. */
  push(text: string): Scanned {
    if (this.#isStopped) return { text: '' };
    if (this.#stops.length === 0) return { text };
    this.#held += text;
    const found = this.#firstStop();
    if (found) {
      this.#isStopped = true;
      return { text: this.#take(found.at), stop: found.stop };
    }
    return { text: this.#take(this.#held.length - this.#undecided()) };
  }

  /** The answer is over: what was held back was none. */
  end(): string {
    return this.#isStopped ? '' : this.#take(this.#held.length);
  }

  #firstStop(): { readonly at: number; readonly stop: string } | undefined {
    let first: { readonly at: number; readonly stop: string } | undefined;
    for (const stop of this.#stops) {
      const at = this.#held.indexOf(stop);
      if (at < 0) continue;
      if (!first || at < first.at || (at === first.at && stop.length > first.stop.length)) first = { at, stop };
    }
    return first;
  }

  /** How many units at the end may be the beginning of a stop string. */
  #undecided(): number {
    let max = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, this.#held.length); length > max; length -= 1) {
        if (this.#held.endsWith(stop.slice(0, length))) max = length;
      }
    }
    return max;
  }

  #take(count: number): string {
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    return taken;
  }
}
