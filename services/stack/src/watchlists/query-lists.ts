// Keeps the domains of lists that follow a query up to date: for each event of a domain, and completely every hour if something has
// changed, one list in each step. After a restart all are evaluated again.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Analytics, QueryError } from '@strata/analytics';
import { StoreError } from '@strata/db';
import type { Logger } from 'pino';
import type { NamesMatching } from '../index/domain-queries.ts';
import type { FollowedDomains, QueryList, Store } from '../store/index.ts';
import { limitsOf } from './watchlist.ts';

export interface QueryListDeps {
  readonly store: Pick<Store, 'watched'>;
  readonly analytics: Analytics;
  readonly namesMatching: NamesMatching;
  readonly clock: () => Date;
  readonly logger: Logger;
}

const HOUR_MS = 3_600_000;
const LISTS_AT_ONCE = 500;
/** Of more lists, those with the largest ids follow a domain when they are evaluated. */
const MAX_FOLLOWING = 10_000;
/** A query that fails alone so often is left until the next pass: the other lists do not wait for it. */
const MAX_TRIES = 3;
/** After so many the remaining lists are left for the next call. */
const MAX_FAILURES = 20;

export class QueryLists {
  readonly #deps: QueryListDeps;
  /** The hour of the last complete pass, and the events that the answers had at its beginning. */
  #hour = 0;
  #seq = -1;
  #pass: { readonly seq: number; after: string } | undefined;
  /** How often the query of a list has failed since the beginning of the pass, by id. */
  readonly #failed = new Map<string, number>();

  constructor(deps: QueryListDeps) {
    this.#deps = deps;
  }

  /**
   * Adds these domains to the lists whose query they match, by the answers of `analyticsOf` or now. Returns those that
   * do not match, which are removed after their events are matched.
   */
  async join(domains: readonly string[], analyticsOf?: () => Promise<Analytics>): Promise<readonly FollowedDomains[]> {
    const { watched } = this.#deps.store;
    const left: FollowedDomains[] = [];
    const failures: unknown[] = [];
    let asked: Analytics | undefined;
    let isMore = domains.length > 0;
    for (let [after, lists] = ['', 0]; isMore && lists < MAX_FOLLOWING; lists += LISTS_AT_ONCE) {
      const page = await watched.withQuery({ after, limit: LISTS_AT_ONCE, domains });
      if (page.length > 0) asked ??= (await analyticsOf?.()) ?? this.#deps.analytics;
      for (const list of page) {
        const options = { analytics: asked ?? this.#deps.analytics, among: domains };
        const matching = await this.#matching(list, domains.length, { ...options, failures });
        if (failures.length === MAX_FAILURES) throw failures[0];
        if (!matching) continue;
        const joined = matching.filter((domain) => !list.among.includes(domain));
        const removed = list.among.filter((domain) => !matching.includes(domain));
        if (joined.length > 0) await watched.follow({ list, domains: joined }, limitsOf(list.tier).domains);
        if (removed.length > 0) left.push({ list, domains: removed });
      }
      after = page.at(-1)?.id ?? after;
      isMore = page.length === LISTS_AT_ONCE;
      await yieldToEventLoop();
    }
    // After the other lists: several that fail take no more tries than one.
    if (failures.length > 0) throw failures[0];
    return left;
  }

  /** Evaluates the next list, if a pass is due. The events to `matched` must be matched with the previous domains before. */
  async step(matched: number): Promise<void> {
    const { store, analytics, clock } = this.#deps;
    const hour = Math.floor(clock().getTime() / HOUR_MS);
    if (!this.#pass && hour === this.#hour) return;
    const { seq } = await analytics.asOf();
    // Older answers would remove a domain that a matched event has added.
    if (seq < matched || (!this.#pass && seq === this.#seq)) return;
    if (!this.#pass) this.#failed.clear();
    this.#pass ??= { seq, after: '' };
    const list = await store.watched.nextWithQuery(this.#pass.after);
    if (!list) {
      [this.#hour, this.#seq, this.#pass] = [hour, this.#pass.seq, undefined];
      return;
    }
    this.#pass.after = list.id;
    const failures: unknown[] = [];
    const matching = await this.#matching(list, limitsOf(list.tier).domains, { analytics, failures });
    if (failures.length > 0) throw failures[0];
    if (matching) await store.watched.setDomains(list, matching);
  }

  /**
   * Undefined if the query fails, or names a provider that the rulebook no longer has: the list keeps its domains. The errors
   * of those that are tried again are added to `failures`.
   */
  async #matching(
    { id, query }: QueryList,
    max: number,
    { failures: again, ...options }: Parameters<NamesMatching>[2] & { readonly failures: unknown[] },
  ): Promise<readonly string[] | undefined> {
    const failures = this.#failed.get(id) ?? 0;
    if (failures === MAX_TRIES) return undefined;
    try {
      return await this.#deps.namesMatching(query, max, options);
    } catch (error) {
      if (error instanceof QueryError) return undefined;
      if (error instanceof StoreError) throw error;
      // While ClickHouse does not respond, it is not the query that fails.
      await this.#deps.analytics.asOf();
      this.#failed.set(id, failures + 1);
      if (failures + 1 < MAX_TRIES) again.push(error);
      else
        this.#deps.logger.error(
          { err: error, watchlist: id },
          'the query of a watchlist fails: tried again in an hour',
        );
      return undefined;
    }
  }
}
