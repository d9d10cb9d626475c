// What is known of a domain, scanning it while the request waits when nothing is known yet.
import { RateWindow, type RequestContext } from '@strata/http';
import type { StoredProfile } from '@strata/store';
import type { StackApp } from './app.ts';

/** A request waits this long for a first scan; then it is told to come back. */
const WAIT_MS = 5_000;
/** What was asked for is told to the schedule so often, and no more names at once. */
const MARK_MS = 60_000;
const MOST_ASKED = 10_000;
/** A scan that outlasted the wait is likely done by then. */
const RETRY_SECONDS = 5;

export type DomainCodes = 'invalid_domain' | 'unknown_domain' | 'unavailable';

export class OnDemand {
  readonly #perKey: RateWindow;
  readonly #waitMs: number;
  /** Known domains that were asked for since they were last told. */
  readonly #asked = new Set<string>();
  #markedAt = 0;

  constructor(options: { readonly perHour: number; readonly now: () => Date; readonly waitMs?: number }) {
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#perKey = new RateWindow({ limit: options.perHour, windowMs: 3_600_000, now: options.now });
  }

  /** Each domain comes by after each of its scans, since its answer is kept until then. */
  #mark({ store, clock }: StackApp, domain: string): void {
    if (this.#asked.size < MOST_ASKED) this.#asked.add(domain);
    const now = clock();
    if (Math.abs(now.getTime() - this.#markedAt) < MARK_MS) return;
    this.#markedAt = now.getTime();
    const names = [...this.#asked];
    this.#asked.clear();
    // A hint to the schedule, which nobody waits for and which the next request gives again.
    store.work.markAsked(names, now).catch(() => {});
  }

  /** The profile, or a refusal that says why there is none and when to come back. */
  async profile(app: StackApp, domain: string, context: RequestContext<DomainCodes>): Promise<StoredProfile> {
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
    // Whoever comes back for a scan that is still under way causes no new one.
    const isNew = !app.scanner.isScanning(domain);
    const waitSeconds = isNew ? this.#perKey.take(context.key?.id ?? context.address) : 0;
    if (waitSeconds > 0) {
      unknown(`${domain} has not been scanned, and this key has used up its on-demand scans for now.`, waitSeconds);
    }
    const scan = app.scanner.scan(domain);
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

function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
