// The update loop: polls the store's logs and processes what is new, in chains of steps: the index applies events, the watch evaluates
// them, the stream publishes them; with ClickHouse these three are concurrent. Changes by other processes are visible in this one
// within a second.

import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { EventBus } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import { sleep } from '../sleep.ts';
import type { StoreHeads, StoreInspection } from '../store/index.ts';

export type Step = () => Promise<void>;
/** Steps in order: each sees the results of the previous one. */
export type Chain = readonly Step[];

export interface UpdateLoopDeps {
  readonly store: { readonly inspection: Pick<StoreInspection, 'heads'> };
  readonly events: EventBus;
  /** They run concurrently: a slow chain delays only itself. */
  readonly chains: readonly Chain[];
  readonly logger: Logger;
  /** Replaces the delay between polls in tests. */
  readonly sleep?: typeof sleep;
}

/** Requests within this time share an update: constant scanning causes a few updates a second, not one per scan. */
const DEBOUNCE_MS = 100;
/** One statement per poll. Together with an update and the permitted age of aggregates the delay is below a second. */
const POLL_INTERVAL_MS = 250;
/** Maximum interval between updates: days end without scans, and failures are retried. */
const MAX_UPDATE_INTERVAL_MS = 1_000;

export class UpdateLoop implements AsyncDisposable {
  readonly #deps: UpdateLoopDeps;
  readonly #updates: readonly SharedRun[];
  #heads: StoreHeads | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Updates run soon after a scan, a sync step or new mentions. */
  constructor(deps: UpdateLoopDeps) {
    this.#deps = deps;
    const { events, logger, chains } = deps;
    this.#updates = chains.map((chain) => {
      // Separate failure logs: a permanent failure of one step must not hide those of another.
      const steps = chain.map((step) => ({
        step,
        failures: new FailureLog(logger, { what: 'processing the event log' }),
      }));
      return new SharedRun(() => this.#update(steps));
    });
    events.subscribe('scan-recorded', () => this.schedule());
    events.subscribe('advisories-stored', () => this.schedule());
    events.subscribe('feed-polled', ({ mentions }) => mentions > 0 && this.schedule());
  }

  /** The positions of the logs at the last poll. */
  get heads(): StoreHeads | undefined {
    return this.#heads;
  }

  /** Schedules an update. */
  schedule(): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.run();
    }, DEBOUNCE_MS);
  }

  /**
   * Processes everything that was committed before this call. Updates of a chain never overlap: calls during one share the next one.
   * Failures are logged, and the next update retries.
   */
  async run(): Promise<void> {
    await Promise.all(this.#updates.map((updates) => updates.start()));
  }

  /** Polls the store until `signal` aborts. Events of the bus do not wait for a slow update. */
  async follow(signal: AbortSignal): Promise<void> {
    const { store, events, logger, sleep: delay = sleep } = this.#deps;
    const failures = new FailureLog(logger, { what: 'reading the positions of the logs' });
    let updatedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        const heads = await store.inspection.heads();
        failures.recovered();
        const changed = changedOf(heads, this.#heads);
        this.#heads = heads;
        if (changed.size > 0 || startedAt - updatedAt >= MAX_UPDATE_INTERVAL_MS) {
          updatedAt = startedAt;
          events.publish('logs-polled', { heads, changed });
          void this.run();
        }
      } catch (error) {
        failures.failed(error);
        await delay(MAX_UPDATE_INTERVAL_MS, signal);
      }
      await delay(Math.max(0, startedAt + POLL_INTERVAL_MS - performance.now()), signal);
    }
    this.#isStopped = true;
    await this.#ended();
  }

  async #update(steps: readonly { readonly step: Step; readonly failures: FailureLog }[]): Promise<void> {
    for (const { step, failures } of steps) {
      if (this.#isStopped) return;
      try {
        await step();
        failures.recovered();
      } catch (error) {
        // The remaining steps still run: each continues at its position.
        if (!this.#isStopped) failures.failed(error);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#ended();
  }

  async #ended(): Promise<void> {
    await Promise.all(this.#updates.map((updates) => updates.ended()));
  }
}

/** The logs whose positions differ; all of them at first. */
function changedOf(heads: StoreHeads, before: StoreHeads | undefined): ReadonlySet<keyof StoreHeads> {
  const names = Object.keys(heads) as (keyof StoreHeads)[];
  return new Set(names.filter((name) => heads[name] !== before?.[name]));
}
