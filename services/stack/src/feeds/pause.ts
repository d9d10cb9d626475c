// A wait that another part ends early, also when it says so before the wait begins.

export class Pause {
  #end: (() => void) | undefined;
  #isEnded = false;

  /** Without a time it lasts until it is ended. */
  begin(ms: number | undefined): Promise<void> {
    if (this.#isEnded) {
      this.#isEnded = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => this.end(), Math.max(0, ms));
      this.#end = () => {
        clearTimeout(timer);
        this.#end = undefined;
        resolve();
      };
    });
  }

  end(): void {
    if (this.#end) this.#end();
    else this.#isEnded = true;
  }
}
