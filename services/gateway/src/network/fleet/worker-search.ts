// Who goes on with a job: somebody who has not lost it yet, else, after a while, one of those who have; within patience.
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type Job } from '@strata/engine';
import type { LossCause, WorkerLostError } from '../session/worker-session.ts';
import type { Chosen, Fleet } from './fleet.ts';

/** How often it is looked for a worker while there is none: less often the longer it takes, since many wait then, and each look costs. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;
const POLL_SHARE = 0.2;
/** Before a worker that lost the job is asked again: doubled each time, up to the second figure. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** Without a token in between; then it is the job's fault, or everybody's. */
const MAX_LOSSES = 32;
/** They say that nothing went wrong, however many of them there are. */
const FAULTLESS: ReadonlySet<LossCause> = new Set(['busy', 'leaving', 'full']);
/** A grammar is called unusable when so many workers say so, or all that there are: some may lie. */
const REFUSALS_BELIEVED = 5;
/** For somebody who can where others cannot: who rests after a first failure is back by then. */
const OTHERS_PATIENCE_MS = 1_000;

type Wanted = Pick<Job, 'prompt' | 'given'>;

export interface WorkerSearchOptions {
  readonly patienceMs: number;
  /** The clock, for tests. */
  readonly nowMs?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** The search for workers of one job, from its beginning to its end. */
export class WorkerSearch {
  readonly #fleet: Fleet;
  readonly #patienceMs: number;
  readonly #nowMs: () => number;
  readonly #sleep: NonNullable<WorkerSearchOptions['sleep']>;
  readonly #lost = new Set<string>();
  /** Of these: those that are not asked again, since it is too long for them, or they called its grammar unusable. */
  readonly #unable = new Set<string>();
  /** Of these: those that call its grammar unusable while nobody has used it. */
  readonly #refused = new Set<string>();
  /** Of these: those that are wrong if another one can go on with it, and what they said. */
  readonly #contested = new Map<string, LossCause>();
  /** Since the job last got on: losses, and how often one was asked again. */
  #losses = 0;
  #again = 0;
  /** How long it was waited since then, or since a loss that counts: for whoever says no more than that it is busy. */
  #waitedMs = 0;

  constructor(fleet: Fleet, options: WorkerSearchOptions) {
    this.#fleet = fleet;
    this.#patienceMs = options.patienceMs;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#sleep = options.sleep ?? ((ms, signal) => sleep(ms, undefined, { signal }));
  }

  /** Losses since a worker last got on with it: how much slower than expected everything may be. */
  get losses(): number {
    return this.#losses;
  }

  /**
   * Rejects with EngineError, `nobody-there` when nobody comes within patience, `crashed` when too many failed, `grammar-unusable` when nobody is left who can use it; or with
   * the signal's reason.
   */
  async next(wanted: Wanted, signal: AbortSignal): Promise<Chosen> {
    if (this.#losses >= MAX_LOSSES)
      throw new EngineError('crashed', `${this.#losses} workers failed one after another`);
    const sinceMs = this.#nowMs();
    const refusals = this.#refused.size;
    const leftMs = this.#patienceMs - this.#waitedMs;
    const patienceMs = refusals > 0 ? Math.min(leftMs, OTHERS_PATIENCE_MS) : leftMs;
    const chosen = refusals < REFUSALS_BELIEVED ? await this.#find(wanted, { patienceMs, signal }) : undefined;
    this.#waitedMs += this.#nowMs() - sinceMs;
    if (chosen) return chosen;
    if (refusals > 0) throw new EngineError('grammar-unusable', `${refusals} workers cannot use the grammar`);
    throw new EngineError('nobody-there', 'no worker is there to answer');
  }

  /** One that has room for more than those that had none; undefined when nobody has. Rejects with the signal's reason. */
  larger(wanted: Wanted, signal: AbortSignal): Promise<Chosen | undefined> {
    return this.#find(wanted, { patienceMs: OTHERS_PATIENCE_MS, signal });
  }

  /** Somebody who has not lost the job, and is not asked already. */
  other(wanted: Wanted, asked: Iterable<string> = []): Chosen | undefined {
    return this.#fleet.choose(wanted, { except: new Set([...this.#lost, ...asked]) });
  }

  /** The job gets on. What others could do is no reason to refuse it. */
  progressed(): void {
    this.#losses = 0;
    this.#again = 0;
    this.#waitedMs = 0;
    for (const [peer, loss] of this.#contested) this.#fleet.noteLost(peer, loss);
    this.#contested.clear();
    this.#refused.clear();
  }

  /** This worker will not do it. */
  lost({ peer, loss }: WorkerLostError, { hasTokens }: { readonly hasTokens: boolean }): void {
    this.#lost.add(peer);
    if (!FAULTLESS.has(loss)) {
      this.#losses += 1;
      this.#waitedMs = 0;
    }
    const isRefused = loss === 'grammar-unusable' && !hasTokens;
    if (isRefused) this.#refused.add(peer);
    if (loss === 'full' || isRefused) this.#unable.add(peer);
    // Tokens of another worker may be what is unusable. Without any, what does not fit a worker's offer is not sent to it.
    if (loss === 'grammar-unusable' || (loss === 'unusable' && hasTokens)) this.#contested.set(peer, loss);
    else this.#fleet.noteLost(peer, loss);
  }

  async #find(
    wanted: Wanted,
    { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
  ): Promise<Chosen | undefined> {
    const sinceMs = this.#nowMs();
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#again);
    for (;;) {
      signal.throwIfAborted();
      const fresh = this.other(wanted);
      if (fresh) return fresh;
      const waitedMs = this.#nowMs() - sinceMs;
      const again = waitedMs < pauseMs ? undefined : this.#fleet.choose(wanted, { except: this.#unable });
      if (again) {
        this.#again += 1;
        return again;
      }
      if (waitedMs >= patienceMs) return undefined;
      const pollMs = Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, POLL_SHARE * waitedMs));
      await this.#sleep(pollMs, signal).catch(() => signal.throwIfAborted());
    }
  }
}
