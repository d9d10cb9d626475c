// Work that several callers wait for, and that stops when the last of them aborts.

/**
 * What leaves when a signal aborts: one listener for each signal, since a probe waits for dozens of answers under its signal and
 * a listener costs several times as much as an entry here.
 */
const leaving = new WeakMap<AbortSignal, Set<() => void>>();

function leavingWith(signal: AbortSignal): Set<() => void> {
  const known = leaving.get(signal);
  if (known !== undefined) return known;
  const leaves = new Set<() => void>();
  leaving.set(signal, leaves);
  const abort = () => {
    for (const leave of leaves) leave();
    leaves.clear();
  };
  signal.addEventListener('abort', abort, { once: true });
  return leaves;
}

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
    const leaves = leavingWith(signal);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.stop();
        reject(signal.reason);
      };
      leaves.add(leave);
      this.#result.then(
        (value) => {
          leaves.delete(leave);
          resolve(value);
        },
        (error) => {
          leaves.delete(leave);
          reject(error);
        },
      );
    });
  }
}
