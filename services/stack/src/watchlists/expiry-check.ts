// Checks the certificates of watched domains every hour, some of them in each step. A certificate is an event of its own, so that a
// rule reports it once; after a restart the check begins again.
import type { Store } from '../store/index.ts';
import { type MatchContext, match, type Signal } from './match.ts';
import type { MatchedList } from './watchlist.ts';

export interface ExpiryDeps {
  readonly store: Pick<Store, 'watched' | 'notifications'>;
  readonly names: MatchContext;
  readonly now: () => Date;
  readonly clock: () => Date;
}

const HOUR_MS = 3_600_000;
/** A certificate that expired earlier is not reported. */
const MAX_EXPIRED_MS = 14 * 24 * HOUR_MS;
/** Some milliseconds of work. */
const DOMAINS_AT_ONCE = 200;

export class ExpiryCheck {
  readonly #deps: ExpiryDeps;
  /** The hour of the check that is complete, in hours since the epoch. */
  #hour = 0;
  #list: MatchedList | undefined;
  #after = '';

  constructor(deps: ExpiryDeps) {
    this.#deps = deps;
  }

  /** Checks the next domains, if a check is due. */
  async step(): Promise<void> {
    const { store, names, now, clock } = this.#deps;
    const at = clock();
    const hour = Math.floor(at.getTime() / HOUR_MS);
    if (hour === this.#hour) return;
    this.#list ??= await store.watched.nextWith('expires_soon', '');
    const list = this.#list;
    if (!list) {
      this.#hour = hour;
      return;
    }
    const found = await store.watched.certificates(list.id, this.#after, DOMAINS_AT_ONCE);
    const signals = found.flatMap(({ domain, expiresAt }): Signal[] => {
      if (expiresAt === null || at.getTime() - expiresAt.getTime() > MAX_EXPIRED_MS) return [];
      return [{ kind: 'certificate', key: `certificate ${domain} ${expiresAt.toISOString()}`, at, domain, expiresAt }];
    });
    const matches = signals.flatMap((signal) => match(signal, list, [signal.domain ?? ''], names));
    if (matches.length > 0) await store.notifications.record(matches, { now: now() });
    this.#after = found.at(-1)?.domain ?? '';
    if (found.length === DOMAINS_AT_ONCE) return;
    this.#after = '';
    this.#list = await store.watched.nextWith('expires_soon', list.id);
    if (!this.#list) this.#hour = hour;
  }
}
