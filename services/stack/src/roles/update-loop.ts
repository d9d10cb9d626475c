// One beat: the index takes in what the log tells, the watch looks at it, the stream tells it. One beat at a time.
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';

export interface UpdateLoopDeps {
  /** In order: each sees what the one before it did. */
  readonly steps: readonly (() => Promise<void>)[];
  readonly logger: Logger;
}

/** Wishes within this time share a beat: under constant scanning the log is read some times a second, not for each scan. */
const GATHER_MS = 100;

export class UpdateLoop implements AsyncDisposable {
  /** Each with a log of its own: long trouble of one must not hide what another fails of. */
  readonly #steps: readonly { readonly step: () => Promise<void>; readonly trouble: FailureLog }[];
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: UpdateLoopDeps) {
    this.#steps = deps.steps.map((step) => ({
      step,
      trouble: new FailureLog(deps.logger, { what: 'following the event log' }),
    }));
  }

  /** Wishes for a beat soon. */
  soon(): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.now();
    }, GATHER_MS);
  }

  /** A beat that begins after this call; resolves when it is over. Failures are logged: the next beat tries again. */
  now(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#tick().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.now();
    });
    return this.#next;
  }

  async #tick(): Promise<void> {
    for (const { step, trouble } of this.#steps) {
      if (this.#isStopped) return;
      try {
        await step();
        trouble.recovered();
      } catch (error) {
        // The others still have their turn: each goes on where it stood.
        trouble.failed(error);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#next?.catch(() => {});
    await this.#running;
  }
}
