// Runs polls up to the concurrency limit, until nothing is due or it is stopped.
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { DueBatch } from './due-feeds.ts';
import type { HostQueue } from './host-queue.ts';

export interface PollLoopDeps {
  readonly queue: HostQueue;
  readonly readDue: () => Promise<DueBatch>;
  /** Never rejects. */
  readonly poll: (feedId: number) => Promise<void>;
  readonly logger: Logger;
}

export interface PollLoopOptions {
  readonly concurrency: number;
  /** Ends when nothing is due, in place of waiting for more. */
  readonly isEnding: boolean;
  /** Delay between reads of due feeds if nothing is due. */
  readonly idleMs?: number | undefined;
  readonly signal: AbortSignal;
}

const IDLE_MS = 1_000;

/** Resolves when the last poll has ended. */
export async function loopPolls(deps: PollLoopDeps, options: PollLoopOptions): Promise<void> {
  const { queue } = deps;
  const { concurrency, isEnding, idleMs = IDLE_MS, signal } = options;
  const delay = new Delay();
  const failures = new FailureLog(deps.logger, { what: 'reading which feeds are due' });
  const stop = () => delay.end();
  signal.addEventListener('abort', stop);
  const running = new Set<Promise<void>>();
  let readAgainAt = 0;
  let isQueueFull = false;

  function fillUp(): void {
    while (running.size < concurrency) {
      const id = queue.take();
      if (id === undefined) return;
      const polling = deps.poll(id).then(() => {
        running.delete(polling);
        queue.release(id);
        delay.end();
      });
      running.add(polling);
    }
  }

  while (!signal.aborted) {
    fillUp();
    const hasFreeSlot = running.size < concurrency;
    // Reads again when a full queue has emptied; and a run that ends with the last poll must not wait for the next read.
    if ((isQueueFull && queue.waiting === 0) || (isEnding && running.size === 0)) readAgainAt = 0;
    if (hasFreeSlot && performance.now() >= readAgainAt) {
      const due = await readSafely(deps.readDue, failures);
      isQueueFull = due.isQueueFull;
      if (due.queued > 0) continue;
      if (isEnding && running.size === 0 && due.isNothingLeft) break;
      readAgainAt = performance.now() + idleMs;
    }
    await delay.begin(hasFreeSlot ? readAgainAt - performance.now() : undefined);
  }
  signal.removeEventListener('abort', stop);
  await Promise.all(running);
}

async function readSafely(readDue: PollLoopDeps['readDue'], failures: FailureLog): Promise<DueBatch> {
  try {
    const due = await readDue();
    failures.recovered();
    return due;
  } catch (error) {
    failures.failed(error);
    return { queued: 0, isQueueFull: false, isNothingLeft: false };
  }
}

export class Delay {
  #end: (() => void) | undefined;
  #isEnded = false;

  /** Without a time it waits for `end`. */
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
