// The search for a worker that can continue a job: first workers that have not lost it, later also those that have;
// within a time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@strata/engine';
import type { Ability } from '@strata/inference';
import type { LossCause, WorkerLostError } from '../session/session-events.ts';
import type { Chosen, Fleet, Wanted } from './fleet.ts';

/** Polling interval while there is no worker: it grows with the waiting time, because many jobs may be polling. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;
const POLL_SHARE = 0.2;
/** Backoff before a worker that lost the job is asked again: doubled each time, up to the maximum. */
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;
/**
 * Without any other worker, jobs go to one that is probed after this time: the probe may be slow, or its client may have
 * left, and what a client waits for a worker is shorter than a probe without an outcome.
 */
const PROBE_TIMEOUT_MS = 2_000;
/** Losses without a token in between; above it the job itself is assumed to cause them. */
const MAX_LOSSES = 32;
/** Losses that are not failures. */
const FAULTLESS: ReadonlySet<LossCause> = new Set(['busy', 'leaving', 'full']);
/** A grammar is considered unusable if this many workers, or all workers, report it: some may lie. */
const REFUSALS_BELIEVED = 5;
/**
 * How long to wait for a worker that can do what the previous ones could not; longer than the first backoff after a
 * failure.
 */
const ALTERNATIVE_TIMEOUT_MS = 1_000;

export interface WorkerSearchOptions {
  readonly timeoutMs: number;
  /** The clock, replaceable in tests. */
  readonly nowMs?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** The search for workers of one job, for its entire duration. */
export class WorkerSearch {
  readonly #fleet: Fleet;
  readonly #timeoutMs: number;
  readonly #nowMs: () => number;
  readonly #sleep: NonNullable<WorkerSearchOptions['sleep']>;
  readonly #lost = new Set<string>();
  /** The part of `#lost` that is not asked again: their context is full, or they reported an unusable grammar. */
  readonly #unable = new Set<string>();
  /** The part of `#lost` that reported an unusable grammar, while no worker has used it successfully. */
  readonly #refused = new Set<string>();
  /** The part of `#lost` whose report is wrong if another worker can continue, with the report. */
  readonly #contested = new Map<string, LossCause>();
  /** What the job needs in addition. */
  #needs: readonly Ability[] = [];
  /** Losses, and repeated requests to a worker, since the last progress. */
  #losses = 0;
  #again = 0;
  /** Time spent waiting since then, or since a failure: for workers that are only busy. */
  #waitedMs = 0;

  constructor(fleet: Fleet, options: WorkerSearchOptions) {
    this.#fleet = fleet;
    this.#timeoutMs = options.timeoutMs;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#sleep = options.sleep ?? ((ms, signal) => sleep(ms, undefined, { signal }));
  }

  /** Failures since the last progress; each one doubles the deadlines. */
  get losses(): number {
    return this.#losses;
  }

  /**
   * Rejects with EngineError: `no-worker` if no worker is available in time, `crashed` after too many failures,
   * `grammar-unusable` if no worker is left that can use the grammar, `unsupported` if the engine of none can do what
   * the job needs; or with the signal's reason.
   */
  async next(wanted: Wanted, signal: AbortSignal): Promise<Chosen> {
    if (this.#losses >= MAX_LOSSES)
      throw new EngineError('crashed', `${this.#losses} workers failed one after another`);
    const sinceMs = this.#nowMs();
    const refusals = this.#refused.size;
    const leftMs = this.#timeoutMs - this.#waitedMs;
    const lacking = this.#fleet.lacking?.([...(wanted.needs ?? []), ...this.#needs]);
    const timeoutMs = refusals > 0 || lacking !== undefined ? Math.min(leftMs, ALTERNATIVE_TIMEOUT_MS) : leftMs;
    const chosen = refusals < REFUSALS_BELIEVED ? await this.#find(wanted, { timeoutMs, signal }) : undefined;
    this.#waitedMs += this.#nowMs() - sinceMs;
    if (chosen) return chosen;
    if (lacking !== undefined)
      throw new EngineError('unsupported', `no worker of this model can do what the request needs: ${lacking}`);
    if (refusals > 0) throw new EngineError('grammar-unusable', `${refusals} workers cannot use the grammar`);
    throw new EngineError('no-worker', 'no worker is available');
  }

  /**
   * A worker with a larger context than those that were full; undefined if no worker has one. Rejects with the signal's
   * reason.
   */
  larger(wanted: Wanted, signal: AbortSignal): Promise<Chosen | undefined> {
    return this.#find(wanted, { timeoutMs: ALTERNATIVE_TIMEOUT_MS, signal });
  }

  /** A worker that has not lost the job and is not being asked already. */
  other(wanted: Wanted, asked: Iterable<string> = []): Chosen | undefined {
    return this.#choose(wanted, new Set([...this.#lost, ...asked]));
  }

  /** The job made progress, so reports that it is impossible were wrong. */
  progressed(): void {
    this.#losses = 0;
    this.#again = 0;
    this.#waitedMs = 0;
    for (const [peer, loss] of this.#contested) this.#fleet.noteLost(peer, loss);
    this.#contested.clear();
    this.#refused.clear();
  }

  /** This worker has lost the job. */
  lost({ peer, loss }: WorkerLostError, { hasTokens }: { readonly hasTokens: boolean }): void {
    this.#lost.add(peer);
    if (!FAULTLESS.has(loss)) {
      this.#losses += 1;
      this.#waitedMs = 0;
    }
    const isRefused = loss === 'grammar-unusable' && !hasTokens;
    if (isRefused) this.#refused.add(peer);
    if (loss === 'full' || isRefused) this.#unable.add(peer);
    // No text may have the tokens of the prompt: workers with token ids are left.
    if (loss === 'unusable' && !hasTokens) this.#needs = ['continuation'];
    // The unusable part may be the tokens of another worker. Jobs that do not fit a worker's offer are not sent to it.
    if (loss === 'grammar-unusable' || (loss === 'unusable' && hasTokens)) this.#contested.set(peer, loss);
    else this.#fleet.noteLost(peer, loss);
  }

  #choose(wanted: Wanted, except: ReadonlySet<string>, withProbed = false): Chosen | undefined {
    return this.#fleet.choose({ ...wanted, needs: [...(wanted.needs ?? []), ...this.#needs] }, { except, withProbed });
  }

  async #find(
    wanted: Wanted,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<Chosen | undefined> {
    const sinceMs = this.#nowMs();
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** this.#again);
    for (;;) {
      signal.throwIfAborted();
      const fresh = this.other(wanted);
      if (fresh) return fresh;
      const waitedMs = this.#nowMs() - sinceMs;
      const withProbed = waitedMs >= PROBE_TIMEOUT_MS;
      const again = waitedMs < backoffMs ? undefined : this.#choose(wanted, this.#unable, withProbed);
      if (again) {
        this.#again += 1;
        return again;
      }
      if (waitedMs >= timeoutMs) return undefined;
      const pollMs = Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, POLL_SHARE * waitedMs));
      await this.#sleep(pollMs, signal).catch(() => signal.throwIfAborted());
    }
  }
}
