// Work that runs once at a time, whatever the number of its callers.

export class SharedRun {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Completes a run that begins after this call. Calls during a run share the next one. Rejects if that run fails. */
  start(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#work().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const again = () => {
      this.#next = undefined;
      return this.start();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  /** Resolves when every run that was requested so far has ended, also if it failed. */
  async ended(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => {});
  }
}
