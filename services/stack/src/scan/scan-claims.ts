// The share of the schedule that this process works off: domains leased from the store, held while they are waited for or scanned,
// and given back when it stops.
import { randomUUID } from 'node:crypto';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import { sleep } from '../sleep.ts';

export interface ScanClaimsDeps {
  readonly store: Pick<Store, 'work'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface ScanClaimsOptions {
  /** Domains leased at once. */
  readonly limit: number;
  /** After a kill others wait so long; a scan takes less, or is renewed. */
  readonly leaseMs: number;
}

/** How long the schedule sleeps when nothing is due. */
const IDLE_MS = 1_000;

export class ScanClaims implements AsyncDisposable {
  readonly #holder = randomUUID();
  readonly #deps: ScanClaimsDeps;
  readonly #options: ScanClaimsOptions;
  /** Leased, and nobody scans them yet; the next one last. */
  #queue: string[] = [];
  /** Those that are being scanned. */
  readonly #begun = new Set<string>();
  #refill: Promise<void> | undefined;
  readonly #renewing: NodeJS.Timeout;
  /** What is asked of the store meanwhile. */
  #asking: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  readonly #reading: FailureLog;
  readonly #renewal: FailureLog;

  constructor(deps: ScanClaimsDeps, options: ScanClaimsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#reading = new FailureLog(deps.logger, { what: 'reading the schedule' });
    this.#renewal = new FailureLog(deps.logger, { what: 'renewing the leases of domains' });
    // Twice within a lease, so that one failure loses none.
    this.#renewing = setInterval(() => {
      this.#asking = this.#asking.then(() => this.#renew());
    }, options.leaseMs / 3).unref();
  }

  /** The next domain, as soon as one is due; undefined once `signal` aborts. Tell with `end` when it is done with. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    while (this.#queue.length === 0 && !signal.aborted) {
      this.#refill ??= this.#fill(signal).finally(() => {
        this.#refill = undefined;
      });
      await this.#refill;
    }
    if (signal.aborted) return undefined;
    const domain = this.#queue.pop();
    if (domain !== undefined) this.#begun.add(domain);
    return domain;
  }

  /** What was recorded is leased no more; what was not comes again when its lease ends. */
  end(domain: string): void {
    this.#begun.delete(domain);
  }

  /** One that is never to be scanned is asked about again as late as if it had been. */
  putOff(domain: string): void {
    const { store, now, logger } = this.#deps;
    const putOff = async () => {
      await store.work.putOff(domain, now());
      this.#begun.delete(domain);
    };
    this.#asking = Promise.all([this.#asking, putOff()]).then(
      () => {},
      (error: unknown) => logger.error({ err: error, domain }, 'a domain that is not scanned could not be put off'),
    );
  }

  /** Gives back what nobody has begun; call it when the signal of `take` aborts. */
  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      await this.#refill;
      const left = this.#queue;
      this.#queue = [];
      if (left.length > 0) await this.#release(left);
    })();
    return this.#stopped;
  }

  /** Gives back all. */
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

  /** By name: what the store leased to us in an answer that never came must end. */
  async #renew(): Promise<void> {
    const { store, now, logger } = this.#deps;
    const held = [...this.#begun, ...this.#queue];
    if (held.length === 0) return;
    const claim = { holder: this.#holder, leaseMs: this.#options.leaseMs };
    try {
      const gone = new Set(await store.work.renew(held, claim, now()));
      this.#renewal.recovered();
      // Whoever has them now scans them; what is being scanned here is recorded all the same, and changes nothing twice.
      const lost = this.#queue.filter((domain) => gone.has(domain));
      this.#queue = this.#queue.filter((domain) => !gone.has(domain));
      const overrun = [...this.#begun].filter((domain) => gone.has(domain));
      if (lost.length + overrun.length > 0)
        logger.warn({ lost: lost.length, overrun }, 'leases of domains have run out: others may scan them');
    } catch (error) {
      this.#renewal.failed(error);
    }
  }

  async #release(domains?: readonly string[]): Promise<void> {
    const { store, logger } = this.#deps;
    await store.work.release(this.#holder, domains).catch((error: unknown) => {
      logger.warn({ err: error }, 'leases of domains could not be given back: they end by themselves');
    });
  }
}
