// Changes over all domains, with the names of their domains.
import type { ChangeFilter, Page, StoredChange } from '@strata/store';
import type { StackApp } from './app.ts';

export interface NamedChange extends StoredChange {
  readonly domain: string;
}

/**
 * Newest first. The names come from the index, which has them at hand: in the store each would be a read somewhere else.
 * Only a domain that the index does not know yet is looked up there.
 */
export async function listedChanges(
  { store, index }: Pick<StackApp, 'store' | 'index'>,
  filter: ChangeFilter,
  page: Page,
): Promise<NamedChange[]> {
  const changes = await store.lists.changes(filter, page);
  const unknown = changes.map(({ domainId }) => domainId).filter((id) => !index.names.has(id));
  const newer = await store.lists.namesOf(unknown);
  return changes.map((change) => ({
    ...change,
    domain: newer.get(change.domainId) ?? index.names.name(change.domainId),
  }));
}
