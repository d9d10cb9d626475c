// Changes over all domains, with the names of their domains.
import type { Category } from '@strata/detect';
import type { ChangeFilter, CustomerFilter, ListedChange, Page } from '@strata/store';
import type { StackApp } from '../context.ts';

export interface NamedChange extends ListedChange {
  readonly domain: string;
}

/**
 * Newest first. The names come from the index, which has them at hand: in the store each would be a read somewhere else.
 * Only a domain that the index does not know yet is looked up there.
 */
export async function listedChanges(
  app: Pick<StackApp, 'store' | 'index'>,
  filter: ChangeFilter,
  page: Page,
): Promise<NamedChange[]> {
  return withNames(app, await app.store.lists.changes(filter, page));
}

async function withNames<C extends ListedChange>(
  { store, index }: Pick<StackApp, 'store' | 'index'>,
  changes: readonly C[],
): Promise<(C & NamedChange)[]> {
  const unknown = changes.map(({ domainId }) => domainId).filter((id) => !index.names.has(id));
  const newer = await store.lists.namesOf(unknown);
  return changes.map((change) => ({
    ...change,
    domain: newer.get(change.domainId) ?? index.names.name(change.domainId),
  }));
}

/** A domain that came or went, with the providers that it came from or went to. */
export interface Customer extends NamedChange {
  readonly moves: readonly { readonly category: Category; readonly provider: string }[];
}

/** Who came to a provider or left it, last confirmed first. What moved with the same confirmation says where. */
export async function listedCustomers(
  app: Pick<StackApp, 'store' | 'index'>,
  filter: CustomerFilter,
  page: Page,
): Promise<Customer[]> {
  const changes = await app.store.lists.customers(filter, page);
  const moves = await app.store.lists.movesOf(filter, changes);
  const keyOf = ({ domainId, confirmedAt }: ListedChange) => `${domainId} ${confirmedAt.getTime()}`;
  const byStep = Map.groupBy(moves, keyOf);
  return (await withNames(app, changes)).map((change) => ({
    ...change,
    moves: (byStep.get(keyOf(change)) ?? []).flatMap(({ category, from, to }) => {
      const provider = filter.direction === 'in' ? from : to;
      return provider === null ? [] : [{ category, provider }];
    }),
  }));
}
