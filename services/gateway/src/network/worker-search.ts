// Who goes on with a job: somebody who has not lost it yet, else, after a while, one of those who have; within patience.
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type Job } from '@strata/engine';
import type { Chosen, Fleet } from './fleet.ts';
import type { WorkerLostError } from './worker-session.ts';

/** How often it is looked for a worker while there is none. */
const POLL_MS = 20;
/** Before a worker that lost the job is asked again: doubled each time, up to the second figure. */
const FIRST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 2_000;
/** Without a token in between; then it is the job's fault, or everybody's. */
const MOST_LOSSES = 32;
/** A refusal is believed when so many workers say it: one may lie. */
const REFUSALS_BELIEVED = 2;
const NOBODY: ReadonlySet<string> = new Set();

type Wanted = Pick<Job, 'prompt' | 'given'>;

/** The search for workers of one job, from its beginning to its end. */
export class WorkerSearch {
  readonly #fleet: Fleet;
  readonly #patienceMs: number;
  readonly #lost = new Set<string>();
  readonly #refused = new Set<string>();
  /** Losses since the job last got on. */
  #losses = 0;
  #again = 0;

  constructor(fleet: Fleet, { patienceMs }: { readonly patienceMs: number }) {
    this.#fleet = fleet;
    this.#patienceMs = patienceMs;
  }

  /** Losses since a worker last got on with it: how much slower than expected everything may be. */
  get losses(): number {
    return this.#losses;
  }

  /** Rejects with EngineError `crashed` when nobody comes within patience, or with the signal's reason. */
  async next(wanted: Wanted, signal: AbortSignal): Promise<Chosen> {
    if (this.#losses >= MOST_LOSSES)
      throw new EngineError('crashed', `${this.#losses} workers failed one after another`);
    const sinceMs = performance.now();
    const pauseMs = Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#again);
    for (;;) {
      signal.throwIfAborted();
      const fresh = this.other(wanted);
      if (fresh) return fresh;
      const waitedMs = performance.now() - sinceMs;
      const again = waitedMs < pauseMs ? undefined : this.#fleet.choose(wanted, { except: NOBODY });
      if (again) {
        this.#again += 1;
        return again;
      }
      if (waitedMs >= this.#patienceMs) throw new EngineError('crashed', 'no worker is there to answer');
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Somebody who has not lost the job, and is not asked already. */
  other(wanted: Wanted, asked: Iterable<string> = []): Chosen | undefined {
    return this.#fleet.choose(wanted, { except: new Set([...this.#lost, ...asked]) });
  }

  /** The job gets on. */
  progressed(): void {
    this.#losses = 0;
    this.#again = 0;
  }

  /** This worker will not do it. */
  lost({ peer, loss }: WorkerLostError, { hasTokens }: { readonly hasTokens: boolean }): void {
    this.#lost.add(peer);
    this.#losses += 1;
    // What others could read and go on with cannot be unusable.
    if ((loss === 'grammar-unusable' || loss === 'unusable') && !hasTokens) this.#refused.add(peer);
    else this.#fleet.noteLost(peer, loss);
  }

  /** Throws EngineError when this loss means that nobody would do it. */
  assertNotRefused({ peer, loss, message }: WorkerLostError, wanted: Wanted): void {
    if (!this.#refused.has(peer)) return;
    if (this.#refused.size < REFUSALS_BELIEVED && this.other(wanted)) return;
    throw new EngineError(loss === 'grammar-unusable' ? loss : 'job-too-long', message);
  }
}
