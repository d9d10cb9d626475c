// The update loop: the index applies new events, the watch evaluates them, the stream publishes them. Updates never overlap.
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';

export interface UpdateLoopDeps {
  /** In order: each sees the results of the previous one. */
  readonly steps: readonly (() => Promise<void>)[];
  readonly logger: Logger;
}

/** Requests within this time share an update: constant scanning causes a few updates a second, not one per scan. */
const DEBOUNCE_MS = 100;

export class UpdateLoop implements AsyncDisposable {
  /** Separate failure logs: a permanent failure of one step must not hide those of another. */
  readonly #steps: readonly { readonly step: () => Promise<void>; readonly failures: FailureLog }[];
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: UpdateLoopDeps) {
    this.#steps = deps.steps.map((step) => ({
      step,
      failures: new FailureLog(deps.logger, { what: 'processing the event log' }),
    }));
  }

  /** Schedules an update. */
  schedule(): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.run();
    }, DEBOUNCE_MS);
  }

  /** Runs an update that begins after this call; resolves when it has ended. Failures are logged: the next update retries. */
  run(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#tick().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.run();
    });
    return this.#next;
  }

  async #tick(): Promise<void> {
    for (const { step, failures } of this.#steps) {
      if (this.#isStopped) return;
      try {
        await step();
        failures.recovered();
      } catch (error) {
        // The remaining steps still run: each continues at its position.
        failures.failed(error);
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
