// Finds stop strings in a stream. Text that may be the start of a stop string is held back, so no part of one is ever
// sent.

export interface Scanned {
  /** Text that can be sent. */
  readonly text: string;
  /** The stop string that ended the answer; later text is discarded. */
  readonly stop?: string;
}

export class StopScanner {
  readonly #stops: readonly string[];
  #held = '';
  #isStopped = false;

  /** Empty stop strings are ignored. */
  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /**
   * Adds text. The stop string that starts first ends the answer; of several that start at the same position, the
   * longest.
   */
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

  /** Ends the answer and returns the text that was held back. */
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

  /** The number of UTF-16 units at the end that may be the start of a stop string. */
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
