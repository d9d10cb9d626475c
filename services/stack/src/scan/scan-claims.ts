// The part of the schedule that this process works on: domains leased from the store, renewed until they are scanned, and released
// at the stop.

import { randomUUID } from 'node:crypto';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';

export interface ScanClaimsDeps {
  readonly store: Pick<Store, 'work'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface ScanClaimsOptions {
  /** Maximum leased domains. */
  readonly limit: number;
  /** Delay before other processes take over after a crash; longer than a scan, or renewed. */
  readonly leaseMs: number;
}

/** Delay between claims if nothing is due. */
const IDLE_MS = 1_000;

export class ScanClaims implements AsyncDisposable {
  readonly #holder = randomUUID();
  readonly #deps: ScanClaimsDeps;
  readonly #options: ScanClaimsOptions;
  /** Leased domains whose scan has not begun; the next one last. */
  #queue: string[] = [];
  /** Domains with a scan in progress. */
  readonly #scanning = new Set<string>();
  #refill: Promise<void> | undefined;
  readonly #renewing: NodeJS.Timeout;
  /** Store operations in progress. */
  #asking: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  readonly #reading: FailureLog;
  readonly #renewal: FailureLog;

  constructor(deps: ScanClaimsDeps, options: ScanClaimsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#reading = new FailureLog(deps.logger, { what: 'reading the schedule' });
    this.#renewal = new FailureLog(deps.logger, { what: 'renewing the leases of domains' });
    // Several times within a lease, so that one failure does not lose it.
    this.#renewing = setInterval(() => {
      this.#asking = this.#asking.then(() => this.#renew());
    }, options.leaseMs / 3).unref();
  }

  /** The next due domain; waits for one, and returns undefined after `signal` aborts. Call `end` after its scan. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    while (this.#queue.length === 0 && !signal.aborted) {
      this.#refill ??= this.#fill(signal).finally(() => {
        this.#refill = undefined;
      });
      await this.#refill;
    }
    if (signal.aborted) return undefined;
    const domain = this.#queue.pop();
    if (domain !== undefined) this.#scanning.add(domain);
    return domain;
  }

  /** Recording a scan releases its lease; otherwise the domain is due again when the lease expires. */
  end(domain: string): void {
    this.#scanning.delete(domain);
  }

  /** Reschedules a domain that must not be scanned, as after a scan. */
  reschedule(domain: string): void {
    const { store, now, logger } = this.#deps;
    // After a failure it is due again when its lease ends.
    const reschedule = store.work.postpone(domain, now()).finally(() => this.#scanning.delete(domain));
    this.#asking = Promise.all([this.#asking, reschedule]).then(
      () => {},
      (error: unknown) => logger.error({ err: error, domain }, 'a domain that is not scanned could not be rescheduled'),
    );
  }

  /** Releases domains whose scan has not begun; call it when the signal of `take` aborts. */
  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      await this.#refill;
      const left = this.#queue;
      this.#queue = [];
      if (left.length > 0) await this.#release(left);
    })();
    return this.#stopped;
  }

  /** Releases all domains. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#renewing);
    await this.stop();
    await this.#asking;
    await this.#release();
  }

  async #fill(signal: AbortSignal): Promise<void> {
    const { store, now } = this.#deps;
    const claim = { holder: this.#holder, ...this.#options };
    const claimed = await store.work.claimDue(claim, now()).then(
      (domains) => {
        this.#reading.recovered();
        return domains;
      },
      (error: unknown) => {
        this.#reading.failed(error);
        return [];
      },
    );
    this.#queue = claimed.reverse();
    if (claimed.length === 0) await sleep(IDLE_MS, signal);
  }

  /** Renews by name: a lease whose answer was lost must expire. */
  async #renew(): Promise<void> {
    const { store, now, logger } = this.#deps;
    const held = [...this.#scanning, ...this.#queue];
    if (held.length === 0) return;
    const claim = { holder: this.#holder, leaseMs: this.#options.leaseMs };
    try {
      const expired = new Set(await store.work.renew(held, claim, now()));
      this.#renewal.recovered();
      // Another process scans them now; a scan in progress here is still recorded, which has no duplicate effect.
      const lost = this.#queue.filter((domain) => expired.has(domain));
      this.#queue = this.#queue.filter((domain) => !expired.has(domain));
      const overrun = [...this.#scanning].filter((domain) => expired.has(domain));
      if (lost.length + overrun.length > 0)
        logger.warn({ lost: lost.length, overrun }, 'leases of domains have expired: other processes may scan them');
    } catch (error) {
      this.#renewal.failed(error);
    }
  }

  async #release(domains?: readonly string[]): Promise<void> {
    const { store, logger } = this.#deps;
    await store.work.release(this.#holder, domains).catch((error: unknown) => {
      logger.warn({ err: error }, 'leases of domains could not be released: they will expire');
    });
  }
}
