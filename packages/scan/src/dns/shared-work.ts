// Work that several callers wait for, and that stops when the last of them aborts.

export class SharedWork<T> {
  readonly #result: Promise<T>;
  /** Stops the work for all callers. */
  readonly stop: () => void;
  #waiting = 0;

  /** `stop` is called when all waiting callers have aborted. */
  constructor(result: Promise<T>, stop: () => void) {
    this.#result = result;
    this.stop = stop;
  }

  /** The result; rejects with the signal's reason if the caller aborts first. */
  join(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting += 1;
    if (signal === undefined) return this.#result;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.stop();
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#result.then(
        (value) => {
          signal.removeEventListener('abort', leave);
          resolve(value);
        },
        (error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      );
    });
  }
}
