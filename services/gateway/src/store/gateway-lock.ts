// Allows one gateway per database: worker reputations and the ledger position of receipts are kept in memory, and with
// two gateways some receipts would be in no ledger. The lock excludes other gateways; its term fences off late writes.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TermHold } from '@strata/db';
import { StartError } from '@strata/http';
import type { Logger } from 'pino';
import type { GatewayStore, GatewayTables } from './store.ts';

export interface GatewayLockDeps {
  readonly store: Pick<GatewayStore, 'gatewayLock' | 'inGatewayTerm'>;
  readonly logger: Logger;
  /** How long to retry while the lock is held; the lock of a disconnected machine is released after ten seconds. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 15_000;
const TRY_MS = 500;

export class GatewayLock implements AsyncDisposable {
  readonly #deps: GatewayLockDeps;
  readonly #superseded = new AbortController();
  readonly #closing = new AbortController();
  #hold: TermHold;
  readonly #keeping: Promise<void>;
  /** Writes are rejected (StoreError `superseded`) after another gateway has taken the lock. */
  readonly tables: GatewayTables;

  private constructor(deps: GatewayLockDeps, hold: TermHold) {
    this.#deps = deps;
    this.#hold = hold;
    this.tables = deps.store.inGatewayTerm(() => this.#hold.term);
    this.#keeping = this.#keep();
  }

  /** Rejects with StartError if another gateway holds the lock. */
  static async take(deps: GatewayLockDeps): Promise<GatewayLock> {
    const { store, logger, timeoutMs = TIMEOUT_MS, signal } = deps;
    for (const deadline = performance.now() + timeoutMs; ; ) {
      const hold = await store.gatewayLock.tryTake();
      if (hold) return new GatewayLock(deps, hold);
      if (performance.now() >= deadline) throw new StartError(TAKEN);
      logger.warn('another gateway uses this database, or was disconnected a moment ago: waiting for its lock');
      await sleep(TRY_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  /** Aborts with a StartError when another gateway has taken the lock: this gateway must stop. */
  get superseded(): AbortSignal {
    return this.#superseded.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
    await this.#hold[Symbol.asyncDispose]();
  }

  /**
   * A lost lock is taken again. While the term shows that no other gateway has started since, nothing has changed and
   * this process continues. If the lock is not available, our own previous session may still hold it, because the
   * server has not noticed the disconnection.
   */
  async #keep(): Promise<void> {
    const { logger } = this.#deps;
    const closing = this.#closing.signal;
    for (;;) {
      const ended = AbortSignal.any([this.#hold.lost, closing]);
      if (!ended.aborted) await once(ended, 'abort');
      if (closing.aborted) return;
      logger.warn('the gateway lock was lost with the database connection: taking it again');
      while (!closing.aborted && this.#hold.lost.aborted) {
        try {
          if (await this.#retake()) return this.#superseded.abort(new StartError(SUPERSEDED));
        } catch (error) {
          // The error may be transient; until then the store rejects writes that need the lock.
          logger.warn({ err: error }, 'the gateway lock cannot be taken yet');
        }
        if (this.#hold.lost.aborted) await sleep(TRY_MS, undefined, { signal: closing }).catch(() => {});
      }
    }
  }

  /** Whether another gateway has started since this one took the lock. */
  async #retake(): Promise<boolean> {
    const { gatewayLock } = this.#deps.store;
    const { term } = this.#hold;
    if ((await gatewayLock.lastTerm()) !== term) return true;
    const hold = await gatewayLock.tryTake();
    if (!hold) return (await gatewayLock.lastTerm()) !== term;
    if (hold.term === term + 1) {
      this.#hold = hold;
      this.#deps.logger.info('the gateway lock is held again');
      return false;
    }
    await hold[Symbol.asyncDispose]();
    return true;
  }
}

const ADVICE =
  'give each gateway its own database with STRATA_INFERENCE_DATABASE_URL and its own directory with STRATA_DATA';
const TAKEN = `another gateway uses this database: stop it, or ${ADVICE}`;
const SUPERSEDED = `another gateway has taken over the database while this gateway was disconnected from it: this gateway stops; ${ADVICE}`;
