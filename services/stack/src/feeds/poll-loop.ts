// Keeps so many polls under way as there may be, as long as something is due or until it is to stop.
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import type { Look } from './due-feeds.ts';
import type { HostQueue } from './host-queue.ts';

export interface PollLoopDeps {
  readonly queue: HostQueue;
  readonly look: () => Promise<Look>;
  /** Never rejects. */
  readonly poll: (feedId: number) => Promise<void>;
  readonly logger: Logger;
}

export interface PollLoopOptions {
  readonly concurrency: number;
  /** Whether it is over when nothing is due, instead of waiting for more. */
  readonly isEnding: boolean;
  /** How long the loop sleeps when nothing is due. */
  readonly idleMs?: number | undefined;
  readonly signal: AbortSignal;
}

const IDLE_MS = 1_000;

/** Resolves when the last poll has ended. */
export async function loopPolls(deps: PollLoopDeps, options: PollLoopOptions): Promise<void> {
  const { queue } = deps;
  const { concurrency, isEnding, idleMs = IDLE_MS, signal } = options;
  const pause = new Pause();
  const trouble = new FailureLog(deps.logger, { what: 'reading which feeds are due' });
  const stop = () => pause.end();
  signal.addEventListener('abort', stop);
  const underWay = new Set<Promise<void>>();
  let lookAgainAt = 0;
  let isCrowded = false;

  function fillUp(): void {
    while (underWay.size < concurrency) {
      const id = queue.take();
      if (id === undefined) return;
      const polling = deps.poll(id).then(() => {
        underWay.delete(polling);
        queue.release(id);
        pause.end();
      });
      underWay.add(polling);
    }
  }

  while (!signal.aborted) {
    fillUp();
    const hasRoom = underWay.size < concurrency;
    // For what found no room there is some now; and one that ends at the last may not wait for the next look.
    if ((isCrowded && queue.waiting === 0) || (isEnding && underWay.size === 0)) lookAgainAt = 0;
    if (hasRoom && performance.now() >= lookAgainAt) {
      const seen = await lookSafely(deps.look, trouble);
      isCrowded = seen.isCrowded;
      if (seen.found > 0) continue;
      if (isEnding && underWay.size === 0 && seen.isNothingLeft) break;
      lookAgainAt = performance.now() + idleMs;
    }
    await pause.begin(hasRoom ? lookAgainAt - performance.now() : undefined);
  }
  signal.removeEventListener('abort', stop);
  await Promise.all(underWay);
}

async function lookSafely(look: PollLoopDeps['look'], trouble: FailureLog): Promise<Look> {
  try {
    const seen = await look();
    trouble.recovered();
    return seen;
  } catch (error) {
    trouble.failed(error);
    return { found: 0, isCrowded: false, isNothingLeft: false };
  }
}

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
