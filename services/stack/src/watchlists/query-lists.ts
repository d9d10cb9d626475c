// Keeps the domains of lists that follow a query up to date: every hour if the index has changed, one list in each step. After a
// restart all are evaluated again.
import { type DomainIndex, QueryError } from '@strata/analytics';
import type { Store } from '../store/index.ts';
import { limitsOf } from './watchlist.ts';

export interface QueryListDeps {
  readonly store: Pick<Store, 'watched'>;
  readonly index: Pick<DomainIndex, 'position'>;
  /** The first domains that match a query; throws QueryError. */
  readonly namesMatching: (query: string, max: number) => readonly string[];
  readonly clock: () => Date;
}

const HOUR_MS = 3_600_000;

export class QueryLists {
  readonly #deps: QueryListDeps;
  /** The hour of the last complete pass, and the events that the index had at its beginning. */
  #hour = 0;
  #seq = -1;
  #pass: { readonly seq: number; after: string } | undefined;

  constructor(deps: QueryListDeps) {
    this.#deps = deps;
  }

  /** Evaluates the next list, if a pass is due. Events must be matched with the previous domains before. */
  async step(): Promise<void> {
    const { store, index, namesMatching, clock } = this.#deps;
    const hour = Math.floor(clock().getTime() / HOUR_MS);
    const { seq } = index.position;
    if (!this.#pass && (hour === this.#hour || seq === this.#seq)) return;
    this.#pass ??= { seq, after: '' };
    const list = await store.watched.nextWithQuery(this.#pass.after);
    if (!list) {
      [this.#hour, this.#seq, this.#pass] = [hour, this.#pass.seq, undefined];
      return;
    }
    this.#pass.after = list.id;
    try {
      await store.watched.setDomains(list, namesMatching(list.query, limitsOf(list.tier).domains));
    } catch (error) {
      // It names a provider that the rulebook no longer has: the list keeps its domains.
      if (!(error instanceof QueryError)) throw error;
    }
  }
}
