// What is known of a domain, scanning it while the request waits when nothing is known yet.
import { DAY_MS, dayOf } from '@strata/analytics';
import { privateSuffixOf } from '@strata/detect';
import { RateWindow, type RequestContext } from '@strata/http';
import type { Bound, Store, StoredProfile } from '@strata/store';
import type { Config } from '../config.ts';
import type { Scanner, ScanOutcome } from './scanner.ts';

/** A request waits this long for a first scan; then it is told to come back. */
const WAIT_MS = 5_000;
/** What was asked for is reported to the schedule at this interval, at most this many names at once. */
const MARK_MS = 60_000;
const MAX_ASKED = 10_000;
/** A scan that outlasted the wait is likely done by then. */
const RETRY_SECONDS = 5;
/** So many times the names of one private suffix are added below all of them in a day. */
const SUFFIXES = 10;

export type DomainCodes = 'invalid_domain' | 'unknown_domain' | 'unavailable';

export interface OnDemandDeps {
  readonly config: Pick<Config, 'isOnDemand' | 'onDemandSuffixPerDay' | 'onDemandAddressPerDay'>;
  readonly store: Pick<Store, 'domain' | 'keys' | 'onDemandDays' | 'work'>;
  readonly scanner: Scanner;
  readonly isOptedOut: (domain: string) => boolean;
  /** Of quotas. */
  readonly now: () => Date;
  /** That history goes by. */
  readonly clock: () => Date;
}

/** A name below a private suffix, counted on a UTC day. */
interface CountedName {
  readonly day: number;
  readonly bounds: readonly Bound[];
}

export class OnDemand {
  readonly #perKey: RateWindow;
  readonly #waitMs: number;
  /** Known domains that were asked for since the last report. */
  readonly #asked = new Set<string>();
  #markedAt = 0;

  constructor(options: { readonly perHour: number; readonly now: () => Date; readonly waitMs?: number }) {
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#perKey = new RateWindow({ limit: options.perHour, windowMs: 3_600_000, now: options.now });
  }

  /** Counts a name below a private suffix, where names cost nothing; refuses it where there are enough for today. */
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
    this.#perKey.giveBack(callerOf(context));
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

  /** Notes what came of it, also where the request does not wait any more. Never rejects. */
  async #whenScanned(
    { store, clock }: OnDemandDeps,
    domain: string,
    { scan, counted }: { readonly scan: Promise<ScanOutcome> | undefined; readonly counted: CountedName | undefined },
  ): Promise<void> {
    try {
      const outcome = await scan;
      if (outcome?.kind === 'recorded') await store.work.markAsked([domain], clock());
      else if (counted) await store.onDemandDays.giveBack(counted.day, counted.bounds);
    } catch {
      // A name counts that was not added, or a domain is forgotten early and scanned anew when it is asked for.
    }
  }

  /** Each domain comes by after each of its scans, since its answer is kept until then. */
  #mark({ store, clock }: OnDemandDeps, domain: string): void {
    if (this.#asked.size < MAX_ASKED) this.#asked.add(domain);
    const now = clock();
    if (Math.abs(now.getTime() - this.#markedAt) < MARK_MS) return;
    this.#markedAt = now.getTime();
    const names = [...this.#asked];
    this.#asked.clear();
    // A hint to the schedule, which nobody waits for and which the next request gives again.
    store.work.markAsked(names, now).catch(() => {});
  }

  /** The profile, or a refusal that says why there is none and when to come back. */
  async profile(app: OnDemandDeps, domain: string, context: RequestContext<DomainCodes>): Promise<StoredProfile> {
    const known = await app.store.domain(domain);
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
    // A client that returns for a scan that is still under way causes no new one.
    const isNew = !app.scanner.isScanning(domain);
    const waitSeconds = isNew ? this.#perKey.take(callerOf(context)) : 0;
    if (waitSeconds > 0) {
      unknown(`${domain} has not been scanned, and this key has used up its on-demand scans for now.`, waitSeconds);
    }
    const counted = isNew ? await this.#countName(app, domain, context) : undefined;
    const scan = app.scanner.scan(domain);
    const noted = isNew ? this.#whenScanned(app, domain, { scan, counted }) : undefined;
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
        // The scan's own announcement must not count against the answer that is made of it.
        context.readsAnew();
        // Before the answer: else the domain could be forgotten as one that was asked for long ago.
        await noted;
        const made = await app.store.domain(domain);
        if (made) return made;
        // A name of the list that never showed anything: that it was looked for is recorded, and no more.
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
