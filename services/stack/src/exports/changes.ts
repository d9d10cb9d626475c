// Waits for a change of the state of a job. A wait leaves nothing behind: a promise that many waits race would keep their reactions.

export class Changes {
  readonly #pollMs: number;
  readonly #waiting = new Set<() => void>();
  #version = 0;

  /** `pollMs`: interval at which the changes by other nodes are found. */
  constructor({ pollMs }: { readonly pollMs: number }) {
    this.#pollMs = pollMs;
  }

  /** Number of changes by this node: read before the state, it makes a wait end at each later one. */
  get version(): number {
    return this.#version;
  }

  notify(): void {
    this.#version += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at a change by this node after `version`, when the next poll is due, or when the signal aborts. */
  async wait(version: number, signal: AbortSignal): Promise<void> {
    if (version !== this.#version || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, this.#pollMs);
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}
