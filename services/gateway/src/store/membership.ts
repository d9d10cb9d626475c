// This process as one of the gateways of its database. It shows that it runs, and settles the records of gateways that
// have ended: only one gateway settles those of another, and never those of a running one. On SQLite it is the only one.
import { setTimeout as sleep } from 'node:timers/promises';
import { FailureLog, StartError } from '@strata/http';
import type { Logger } from 'pino';
import { DAY_MS, dayOf } from './access/policy.ts';
import { EARLIER_VERSIONS, type GatewayRow } from './gateways.ts';
import type { GatewayStore } from './store.ts';

export interface MembershipDeps {
  readonly store: Pick<GatewayStore, 'gatewayLock' | 'gateways' | 'isShared'>;
  readonly logger: Logger;
  /** How long to retry while another process has the lock of a database that cannot be shared. */
  readonly lockTimeoutMs?: number | undefined;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** Enters and signs what a gateway has left; rejects if that is incomplete. */
export type Settle = (gateway: number) => Promise<void>;

const LOCK_TIMEOUT_MS = 15_000;
const TRY_MS = 500;
/** A stop does not wait longer for the database. */
const ANSWER_MS = 2_000;
/** Interval between heartbeats. */
const HEARTBEAT_MS = 1_000;
/**
 * A gateway has ended when this many consecutive reads have found no new heartbeat. Reads are counted instead of time, and
 * only those before which this gateway has written a heartbeat of its own: neither clocks nor an outage of the database,
 * in which no gateway can write, end a running one.
 */
const MISSED_HEARTBEATS = 10;

export class GatewayMembership implements AsyncDisposable {
  readonly #deps: MembershipDeps;
  #id: number;
  /** By id: the last heartbeat, and how many reads have found it. */
  readonly #observed = new Map<number, { readonly heartbeat: number; readonly reads: number }>();
  #ownHeartbeat: number | undefined;
  readonly #leaving = new AbortController();
  readonly #showing: Promise<void>;
  #hasEarlierEnded = false;

  private constructor(deps: MembershipDeps, id: number) {
    this.#deps = deps;
    this.#id = id;
    this.#showing = this.#repeat('the heartbeat of this gateway', () => this.#showRunning(), this.#leaving.signal);
  }

  /** Rejects with StartError if another process uses a database that cannot be shared with it. */
  static async join(deps: MembershipDeps): Promise<GatewayMembership> {
    const { store } = deps;
    const hasEarlier = (await store.gateways.all()).some(({ id }) => id === EARLIER_VERSIONS);
    const hold = store.isShared && !hasEarlier ? undefined : await lock(deps);
    if (hasEarlier) await store.gateways.readEarlier();
    const membership = new GatewayMembership(deps, await store.gateways.add());
    membership.#hasEarlierEnded = hasEarlier;
    // On SQLite the store holds it until it is disposed of.
    if (store.isShared) await hold?.[Symbol.asyncDispose]();
    return membership;
  }

  /** Another one after the records of this gateway were settled by another gateway, while it was suspended or disconnected. */
  readonly id = (): number => this.#id;

  /** Whether another gateway of the database runs, as far as is known; false if the database does not answer soon. */
  async hasSiblings(): Promise<boolean> {
    const { isShared, gateways } = this.#deps.store;
    if (!isShared) return false;
    const found = gateways.siblingsOf(this.#id).then(
      (siblings) => siblings.length > 0,
      () => false,
    );
    return Promise.race([found, sleep(ANSWER_MS, false, { ref: false })]);
  }

  /** Settles the records of gateways that are known to have ended. */
  async settleEnded(settle: Settle): Promise<void> {
    const { store, logger } = this.#deps;
    const rows = await store.gateways.all();
    const own = rows.find(({ id }) => id === this.#id)?.heartbeat;
    const isCounted = own !== undefined && own !== this.#ownHeartbeat;
    this.#ownHeartbeat = own;
    const ended = rows.filter((row) => row.id !== this.#id && this.#hasEnded(row, isCounted));
    const running = new Set(rows.map(({ id }) => id)).difference(new Set(ended.map(({ id }) => id)));
    for (const id of this.#observed.keys()) if (!rows.some((row) => row.id === id)) this.#observed.delete(id);
    const failed: unknown[] = [];
    for (const row of ended) {
      const isSettled = row.settler !== this.#id && running.has(row.settler);
      if (isSettled || !(await store.gateways.claim(row, this.#id))) continue;
      if (isOfProcess(row) && row.settler !== this.#id)
        logger.warn({ gateway: row.id }, 'a gateway has ended: settling its records');
      await settle(row.id)
        .then(() => store.gateways.remove(row.id, this.#id))
        .catch((error: unknown) => failed.push(error));
    }
    if (failed.length > 0) throw failed[0];
  }

  /** Settles the records of gateways that end later, until the signal aborts. Errors are retried. */
  follow(settle: Settle, signal: AbortSignal): Promise<void> {
    return this.#repeat('settling the records of ended gateways', () => this.settleEnded(settle), signal);
  }

  /** Deletes what a gateway that runs for long no longer needs: called a few times a day. */
  async tidy(now: Date): Promise<void> {
    const yesterday = dayOf(new Date(now.getTime() - DAY_MS));
    await this.#deps.store.gateways.tidy(this.#id, yesterday);
  }

  /** Leaves the records that could not be settled to other gateways. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    await this.#showing;
    await this.#deps.store.gateways.remove(this.#id).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, 'this gateway could not leave: another one will settle its records');
    });
  }

  async #showRunning(): Promise<void> {
    const { store, logger } = this.#deps;
    if (await store.gateways.showRunning(this.#id)) return;
    logger.warn('another gateway has settled the records of this one: it continues under a new id');
    this.#id = await store.gateways.add();
  }

  async #repeat(what: string, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const failures = new FailureLog(this.#deps.logger, { what });
    while (this.#deps.store.isShared) {
      await sleep(HEARTBEAT_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await work();
        failures.recovered();
      } catch (error) {
        failures.failed(error);
      }
    }
  }

  #hasEnded({ id, heartbeat }: GatewayRow, isCounted: boolean): boolean {
    if (!this.#deps.store.isShared) return true;
    if (id === EARLIER_VERSIONS) return this.#hasEarlierEnded;
    const before = this.#observed.get(id);
    const reads = before?.heartbeat === heartbeat ? before.reads + Number(isCounted) : 0;
    this.#observed.set(id, { heartbeat, reads });
    return reads >= MISSED_HEARTBEATS;
  }
}

/** Earlier versions, and answers that were left, have smaller ids. */
const isOfProcess = ({ id }: GatewayRow) => id > EARLIER_VERSIONS;

async function lock({ store, logger, lockTimeoutMs = LOCK_TIMEOUT_MS, signal }: MembershipDeps) {
  for (const deadline = performance.now() + lockTimeoutMs; ; ) {
    const hold = await store.gatewayLock.tryTake();
    if (hold) return hold;
    if (performance.now() >= deadline) throw new StartError(TAKEN);
    logger.warn('another gateway uses this database, or was disconnected a moment ago: waiting for its lock');
    await sleep(TRY_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

const TAKEN =
  'another gateway uses this database: stop it, or give each gateway its own database with STRATA_INFERENCE_DATABASE_URL and its own directory with STRATA_DATA; several gateways share a PostgreSQL database if all have this version';
