// The profile of a domain, with a scan during the request if it was never scanned.
import { DAY_MS, dayOf } from '@strata/analytics';
import { privateSuffixOf } from '@strata/detect';
import type { RequestContext } from '@strata/http';
import { RateLimiter } from '@strata/limits';
import type { Config } from '../config.ts';
import type { Bound, Store, StoredProfile } from '../store/index.ts';
import type { Scanner, ScanOutcome } from './scanner.ts';

/** Maximum wait for a first scan; then the client must retry. */
const WAIT_MS = 5_000;
/** Interval at which requested domains are reported to the schedule, and the maximum number per report. */
const MARK_MS = 60_000;
const MAX_REQUESTED = 10_000;
/** A scan that exceeds the wait is probably done by then. */
const RETRY_SECONDS = 5;
/** Daily limit over all private suffixes, as a multiple of the limit of one. */
const SUFFIXES = 10;

export type DomainCodes = 'invalid_domain' | 'unknown_domain' | 'unavailable';

export interface OnDemandDeps {
  readonly config: Pick<Config, 'isOnDemand' | 'onDemandSuffixPerDay' | 'onDemandAddressPerDay'>;
  readonly store: Pick<Store, 'domains' | 'keys' | 'onDemandDays' | 'work'>;
  readonly scanner: Scanner;
  readonly isOptedOut: (domain: string) => boolean;
  /** The clock of quotas. */
  readonly now: () => Date;
  /** The clock of the history. */
  readonly clock: () => Date;
}

/** A name below a private suffix, counted on a UTC day. */
interface CountedName {
  readonly day: number;
  readonly bounds: readonly Bound[];
}

export class OnDemand {
  readonly #perKey: RateLimiter;
  readonly #waitMs: number;
  /** Known domains that were requested since the last report. */
  readonly #requested = new Set<string>();
  #markedAt = 0;

  constructor(options: { readonly perHour: number; readonly now: () => Date; readonly waitMs?: number }) {
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#perKey = new RateLimiter({
      ...{ limit: options.perHour, period: 3_600_000, refill: 'window' },
      now: () => options.now().getTime(),
    });
  }

  /** Counts a name below a private suffix, where names are free; refuses it above the daily limits. */
  async #countName(
    app: OnDemandDeps,
    domain: string,
    context: RequestContext<DomainCodes>,
  ): Promise<CountedName | undefined> {
    const suffix = privateSuffixOf(domain);
    if (suffix === null) return undefined;
    const { onDemandSuffixPerDay: perSuffix, onDemandAddressPerDay: perAddress } = app.config;
    const bounds = [
      { subject: `address ${app.store.keys.saltedHash(context.address)}`, limit: perAddress },
      { subject: `suffix ${suffix}`, limit: perSuffix },
      { subject: 'all', limit: perSuffix * SUFFIXES },
    ];
    const now = app.now().getTime();
    const taken = await app.store.onDemandDays.take(dayOf(now), bounds);
    if ('day' in taken) return { day: taken.day, bounds };
    const { met } = taken;
    this.#perKey.refund(callerOf(context));
    const whose = met === bounds[0] ? 'for this address' : met === bounds[1] ? `below ${suffix}` : 'of this kind';
    const seconds = Math.ceil((DAY_MS - (now % DAY_MS)) / 1_000);
    return context.refuse(
      'unknown_domain',
      `${domain} has not been scanned, and no more names ${whose} are added today.`,
      {
        headers: { 'retry-after': String(seconds) },
      },
    );
  }

  /** Records the outcome, even after the request stopped waiting. Never rejects. */
  async #whenScanned(
    { store, clock }: OnDemandDeps,
    domain: string,
    { scan, counted }: { readonly scan: Promise<ScanOutcome> | undefined; readonly counted: CountedName | undefined },
  ): Promise<void> {
    try {
      const outcome = await scan;
      if (outcome?.kind === 'recorded') await store.work.markRequested([domain], clock());
      else if (counted) await store.onDemandDays.refund(counted.day, counted.bounds);
    } catch {
      // At worst a name counts that was not added, or a domain is removed early and scanned again on request.
    }
  }

  /** Called at least once after each scan of a domain, since its answer is cached until then. */
  #mark({ store, clock }: OnDemandDeps, domain: string): void {
    if (this.#requested.size < MAX_REQUESTED) this.#requested.add(domain);
    const now = clock();
    if (Math.abs(now.getTime() - this.#markedAt) < MARK_MS) return;
    this.#markedAt = now.getTime();
    const names = [...this.#requested];
    this.#requested.clear();
    // A hint for the schedule: not awaited, and repeated by the next request.
    store.work.markRequested(names, now).catch(() => {});
  }

  /** The profile, or a refusal with the reason and the time to retry. */
  async profile(app: OnDemandDeps, domain: string, context: RequestContext<DomainCodes>): Promise<StoredProfile> {
    const known = await app.store.domains.profile(domain);
    if (known) {
      this.#mark(app, domain);
      return known;
    }
    const unknown = (detail: string, retrySeconds?: number): never =>
      context.refuse(
        'unknown_domain',
        detail,
        retrySeconds ? { headers: { 'retry-after': String(retrySeconds) } } : {},
      );

    const unresolved = (): never =>
      context.refuse('unavailable', `${domain} could not be resolved just now.`, {
        headers: { 'retry-after': '60' },
      });

    if (app.isOptedOut(domain)) unknown(`${domain} asked not to be scanned.`);
    if (!app.config.isOnDemand) unknown(`${domain} has not been scanned, and scanning on demand is off here.`);
    // A client that retries during a scan does not start another one.
    const isNew = !app.scanner.isScanning(domain);
    const waitMs = isNew ? this.#perKey.take(callerOf(context)) : 0;
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      unknown(`${domain} has not been scanned, and this key has used up its on-demand scans for now.`, seconds);
    }
    const counted = isNew ? await this.#countName(app, domain, context) : undefined;
    const scan = app.scanner.scan(domain);
    const recordedOutcome = isNew ? this.#whenScanned(app, domain, { scan, counted }) : undefined;
    if (!scan) {
      context.refuse('unavailable', 'Too many domains are being scanned on demand right now.', {
        headers: { 'retry-after': String(RETRY_SECONDS) },
      });
    }

    const outcome = await withTimeout(scan, this.#waitMs);
    switch (outcome?.kind) {
      case undefined:
        return unknown(`${domain} is being scanned; the answer is not complete yet.`, RETRY_SECONDS);
      case 'nonexistent':
        return unknown(`${domain} does not exist (NXDOMAIN).`);
      case 'opted-out':
        return unknown(`${domain} asked not to be scanned.`);
      case 'unmeasured':
      case 'failed':
        return unresolved();
      case 'recorded': {
        // The cache invalidation by this scan must not apply to the answer based on it.
        context.resetReads();
        // Must be stored before the answer: otherwise retention could remove the domain as requested long ago.
        await recordedOutcome;
        const made = await app.store.domains.profile(domain);
        if (made) return made;
        // A listed name without any observation: only the scan itself is recorded.
        return outcome.profile.state === 'nonexistent' ? unknown(`${domain} does not exist (NXDOMAIN).`) : unresolved();
      }
      default:
        return outcome satisfies never;
    }
  }
}

const callerOf = ({ key, address }: RequestContext<DomainCodes>): string => key?.id ?? address;

function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
