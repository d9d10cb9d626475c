// One gateway a database: it keeps standings of workers, and how far receipts are in its ledger, in memory, and two would enter each
// other's receipts in no ledger at all. The lock says who it is, its term what may still be written.
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayTables, Store, TermHold } from '@strata/store';
import type { Logger } from 'pino';
import { GatewayStartError } from '../start-error.ts';

export interface SoleGatewayDeps {
  readonly store: Pick<Store, 'gatewayLock' | 'inGatewayTerm'>;
  readonly logger: Logger;
  /** How long a lock that is held is asked for; one of a machine that was cut off is free after ten seconds. */
  readonly patienceMs?: number;
  /** Ends the wait, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

const PATIENCE_MS = 15_000;
const TRY_MS = 500;

export class SoleGateway implements AsyncDisposable {
  readonly #deps: SoleGatewayDeps;
  readonly #superseded = new AbortController();
  readonly #closing = new AbortController();
  #hold: TermHold;
  readonly #keeping: Promise<void>;
  /** Writes are refused (StoreError `superseded`) once another gateway has begun. */
  readonly tables: GatewayTables;

  private constructor(deps: SoleGatewayDeps, hold: TermHold) {
    this.#deps = deps;
    this.#hold = hold;
    this.tables = deps.store.inGatewayTerm(() => this.#hold.term);
    this.#keeping = this.#keep();
  }

  /** Rejects with GatewayStartError while another gateway works on the database. */
  static async take(deps: SoleGatewayDeps): Promise<SoleGateway> {
    const { store, logger, patienceMs = PATIENCE_MS, signal } = deps;
    for (const deadline = performance.now() + patienceMs; ; ) {
      const hold = await store.gatewayLock.tryTake();
      if (hold) return new SoleGateway(deps, hold);
      if (performance.now() >= deadline) throw new GatewayStartError(TAKEN);
      logger.warn('another gateway works on this database, or was cut off a moment ago: waiting for it to be gone');
      await sleep(TRY_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  /** Aborts, with a GatewayStartError, when another gateway has begun: this one must end. */
  get superseded(): AbortSignal {
    return this.#superseded.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
    await this.#hold[Symbol.asyncDispose]();
  }

  /**
   * A lost lock is taken anew. As long as nobody else has begun meanwhile, which the term tells, nothing has changed under this
   * process, and it works on; the lock that cannot be had may be our own session, which the server has not missed yet.
   */
  async #keep(): Promise<void> {
    const { logger } = this.#deps;
    const closing = this.#closing.signal;
    for (;;) {
      await aborted(AbortSignal.any([this.#hold.lost, closing]));
      if (closing.aborted) return;
      logger.warn('the lock of the gateway is lost with its connection to the database: taking it anew');
      while (!closing.aborted && this.#hold.lost.aborted) {
        try {
          if (await this.#retake()) return this.#superseded.abort(new GatewayStartError(SUPERSEDED));
        } catch (error) {
          // Whatever it is, it may pass; until then the store refuses what it must.
          logger.warn({ err: error }, 'the lock of the gateway cannot be taken yet');
        }
        if (this.#hold.lost.aborted) await sleep(TRY_MS, undefined, { signal: closing }).catch(() => {});
      }
    }
  }

  /** Whether another gateway has begun since this one. */
  async #retake(): Promise<boolean> {
    const { gatewayLock } = this.#deps.store;
    const { term } = this.#hold;
    if ((await gatewayLock.lastTerm()) !== term) return true;
    const hold = await gatewayLock.tryTake();
    if (!hold) return (await gatewayLock.lastTerm()) !== term;
    if (hold.term === term + 1) {
      this.#hold = hold;
      this.#deps.logger.info('the lock of the gateway is held again');
      return false;
    }
    await hold[Symbol.asyncDispose]();
    return true;
  }
}

const ADVICE =
  'give each gateway a database of its own with STRATA_INFERENCE_DATABASE_URL and a directory of its own with STRATA_DATA';
const TAKEN = `another gateway works on this database: stop it, or ${ADVICE}`;
const SUPERSEDED = `another gateway has taken over the database while this one was cut off from it: this one ends; ${ADVICE}`;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
