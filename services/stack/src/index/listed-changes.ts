// Lists changes over all domains, with the names of the domains.
import type { DomainRow, Query } from '@strata/analytics';
import type { Category } from '@strata/detect';
import type { StackApp } from '../context.ts';
import type { ChangeFilter, CustomerFilter, ListedChange, Page, StoredChange } from '../store/index.ts';

export interface NamedChange extends ListedChange {
  readonly domain: string;
}

/**
 * Newest first. Names come from the index, since the store would need a random read for each; only domains that are missing in the
 * index are read from the store.
 */
export async function listedChanges(
  app: Pick<StackApp, 'store' | 'analytics'>,
  filter: ChangeFilter,
  page: Page,
): Promise<NamedChange[]> {
  return withNames(app, await app.store.lists.changes(filter, page));
}

/** Changes that one request reads at most to find those of a set of domains. */
const MAX_READ = 20_000;
const READ_AT_ONCE = 2_000;

/**
 * The same; of a set of domains without `offset`. Reads at most `MAX_READ` changes: `next` is the one to continue after if that
 * limit ended the search. The work grows with neither the history nor the set.
 */
export async function listedChangesOf(
  app: Pick<StackApp, 'store' | 'analytics'>,
  filter: ChangeFilter,
  { within, ...page }: Page & { readonly within: Query | undefined },
): Promise<{ readonly changes: NamedChange[]; readonly next?: ListedChange | undefined }> {
  if (!within) return { changes: await listedChanges(app, filter, page) };
  const order = filter.since === undefined ? 'at' : 'confirmedAt';
  const found: ListedChange[] = [];
  let last: ListedChange | undefined;
  for (let read = 0; read < MAX_READ; read += READ_AT_ONCE) {
    const from = last ? changeKey(last, order) : page.after;
    const rows = await app.store.lists.changes(filter, {
      limit: READ_AT_ONCE,
      offset: 0,
      ...(from && { after: from }),
    });
    const matching = await rowsOf(app, rows, within);
    found.push(...rows.filter(({ domainId }) => matching.has(domainId)));
    last = rows.at(-1);
    if (rows.length < READ_AT_ONCE) last = undefined;
    if (last === undefined || found.length >= page.limit) break;
  }
  const changes = await withNames(app, found.slice(0, page.limit));
  return { changes, next: found.length < page.limit ? last : undefined };
}

/** The key of a change in the order of a list: lists of a window are in the order of confirmation. */
export function changeKey({ at, confirmedAt, id }: StoredChange, order: 'at' | 'confirmedAt'): [number, string] {
  return [(order === 'at' ? at : confirmedAt).getTime(), id];
}

/** Changes with the names of their domains. */
export async function withNames<C extends ListedChange>(
  app: Pick<StackApp, 'store' | 'analytics'>,
  changes: readonly C[],
): Promise<(C & NamedChange)[]> {
  const known = await rowsOf(app, changes);
  const unknown = changes.map(({ domainId }) => domainId).filter((id) => !known.has(id));
  const newer = await app.store.lists.namesOf(unknown);
  return changes.map((change) => ({
    ...change,
    domain: newer.get(change.domainId) ?? known.get(change.domainId)?.name ?? '',
  }));
}

/** The domains of changes that match a query, by number. */
export async function rowsOf(
  { analytics }: Pick<StackApp, 'analytics'>,
  changes: readonly ListedChange[],
  query?: Query,
): Promise<ReadonlyMap<number, DomainRow>> {
  const ids = [...new Set(changes.map(({ domainId }) => domainId))];
  const { domains } = await analytics.search({ filter: { among: { ids }, query }, limit: ids.length, offset: 0 });
  return new Map(domains.map((row) => [row.id, row]));
}

/** A new or lost customer, with the providers that it used before or uses now. */
export interface Customer extends NamedChange {
  readonly moves: readonly { readonly category: Category; readonly provider: string }[];
}

/** New or lost customers of a provider, last confirmed first. Changes with the same confirmation identify the previous or new provider. */
export async function listedCustomers(
  app: Pick<StackApp, 'store' | 'analytics'>,
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
