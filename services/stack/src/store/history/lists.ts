// Queries over the history tables: recent changes, and the scans of one domain.
import type { Category, ChangeType } from '@strata/detect';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { type StoredChange, storedChange } from '../domains/domains.ts';
import type { Database } from '../schema.ts';

export interface ListedChange extends StoredChange {
  /** The store's number of the domain: the index maps it to the name without a read. */
  readonly domainId: number;
}

export interface ChangeFilter {
  readonly type: ChangeType;
  /** Provider id; with `direction` only changes to (`in`) or away from it (`out`). */
  readonly provider?: string;
  readonly direction?: 'in' | 'out';
  /** Id of the provider on the other side; ignored without `provider`. */
  readonly other?: string;
  readonly category?: Category;
  /** Only changes confirmed at or after this time; the order is then by confirmation. */
  readonly since?: Date;
}

/** Domains that began to use a provider in any category, or stopped using it in all. */
export interface CustomerFilter {
  readonly provider: string;
  readonly direction: 'in' | 'out';
  /** Confirmed at or after this moment. */
  readonly since: Date;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

type ChangeQuery = SelectQueryBuilder<Database, 'changes', object>;
/** The time that orders a list: of the change, or of its confirmation. */
type Order = 'at' | 'confirmed_at';

/** Reclassifications by new rules are not movements. */
const MOVEMENTS: readonly ChangeType[] = ['added', 'removed', 'migrated'];
const COLUMN = { in: 'to_provider', out: 'from_provider' } as const;
const OPPOSITE = { in: 'out', out: 'in' } as const;

export class ListTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /**
   * Newest first by `at` (by `confirmed_at` with `since`), then by id: a total order, so that pages do not overlap while nothing
   * is recorded.
   */
  async changes(filter: ChangeFilter, page: Page): Promise<ListedChange[]> {
    const { type, provider, direction, other, category, since } = filter;
    const order: Order = since === undefined ? 'at' : 'confirmed_at';
    const start = (): ChangeQuery => {
      let query: ChangeQuery = this.#db.selectFrom('changes').where('changes.type', '=', type);
      if (since) query = query.where('changes.confirmed_at', '>=', since.getTime());
      return category ? query.where('changes.category', '=', category) : query;
    };
    if (provider === undefined) return this.#read(newest(start(), order, page));
    const side = (direction: 'in' | 'out') => {
      const query = start().where(`changes.${COLUMN[direction]}`, '=', provider);
      return other === undefined ? query : query.where(`changes.${COLUMN[OPPOSITE[direction]]}`, '=', other);
    };
    if (direction !== undefined) return this.#read(newest(side(direction), order, page));
    // Each side uses its own index; a single condition would sort all rows. Full rows are read only for the page.
    const max = { limit: page.offset + page.limit, offset: 0 };
    const keys = (direction: 'in' | 'out', name: string) =>
      newest(side(direction), order, max)
        .select(['changes.id', `changes.${order} as time`])
        .as(name);
    const pageIds = this.#db
      .selectFrom((query) =>
        query
          .selectFrom(keys('in', 'gained'))
          .selectAll()
          .union(query.selectFrom(keys('out', 'lost')).selectAll())
          .as('sides'),
      )
      .select('sides.id')
      .orderBy('sides.time', 'desc')
      .orderBy('sides.id', 'desc')
      .limit(page.limit)
      .offset(page.offset);
    return this.#read(ordered(this.#db.selectFrom('changes').where('changes.id', 'in', pageIds), order));
  }

  /** One change for each domain gained or lost, the last confirmed first, then by id. */
  async customers({ provider, direction, since }: CustomerFilter, page: Page): Promise<ListedChange[]> {
    const query = this.#db
      .selectFrom('changes')
      .where(`changes.${COLUMN[direction]}`, '=', provider)
      .where('changes.type', 'in', MOVEMENTS)
      .where('changes.confirmed_at', '>=', since.getTime())
      .where(direction === 'in' ? 'changes.is_entry' : 'changes.is_exit', '=', 1);
    return this.#read(newest(query, 'confirmed_at', page));
  }

  /** All migrations to (`in`) or away from (`out`) a provider of the domains of these changes, within their confirmation times. */
  async movesOf(
    { provider, direction }: Omit<CustomerFilter, 'since'>,
    changes: readonly ListedChange[],
  ): Promise<ListedChange[]> {
    if (changes.length === 0) return [];
    const ids = [...new Set(changes.map(({ domainId }) => domainId))];
    const times = changes.map(({ confirmedAt }) => confirmedAt.getTime());
    const query = this.#db
      .selectFrom('changes')
      .where(`changes.${COLUMN[direction]}`, '=', provider)
      .where('changes.type', '=', 'migrated')
      .where('changes.confirmed_at', '>=', Math.min(...times))
      .where('changes.confirmed_at', '<=', Math.max(...times))
      .where('changes.domain_id', 'in', ids);
    return this.#read(ordered(query, 'confirmed_at'));
  }

  async #read(query: ChangeQuery): Promise<ListedChange[]> {
    const rows = await query.selectAll('changes').execute();
    return rows.map((row) => ({ ...storedChange(row), domainId: row.domain_id }));
  }

  /** Domain names by number. */
  async namesOf(domainIds: readonly number[]): Promise<Map<number, string>> {
    if (domainIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('domains')
      .where('id', 'in', [...new Set(domainIds)])
      .select(['id', 'name'])
      .execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Numbers of the names that are stored, scanned or not; at most 1,000 names. */
  async idsOf(names: readonly string[]): Promise<Map<string, number>> {
    if (names.length === 0) return new Map();
    const rows = await this.#db.selectFrom('domains').where('name', 'in', names).select(['id', 'name']).execute();
    return new Map(rows.map(({ id, name }) => [name, id]));
  }

  /** Scans of a domain since a time under one rulebook, oldest first, with their counts of services and records. */
  async scansOf(domainId: number, filter: { readonly since: Date; readonly rulebook: string }) {
    return this.#db
      .selectFrom('scans')
      .where('domain_id', '=', domainId)
      .where('started_at', '>=', filter.since.getTime())
      .where('rulebook', '=', filter.rulebook)
      .where('state', 'in', ['active', 'parked'])
      .orderBy('started_at')
      .select(['observed_at as at', 'services', 'records'])
      .execute();
  }

  /** The confirmation times of a domain's changes since a time. */
  async changesOf(domainId: number, since: Date): Promise<readonly number[]> {
    const rows = await this.#db
      .selectFrom('changes')
      .where('domain_id', '=', domainId)
      .where('type', '!=', 'reclassified')
      .where('confirmed_at', '>=', since.getTime())
      .select('confirmed_at')
      .execute();
    return rows.map((row) => row.confirmed_at);
  }
}

function ordered(query: ChangeQuery, order: Order): ChangeQuery {
  return query.orderBy(`changes.${order}`, 'desc').orderBy('changes.id', 'desc');
}

function newest(query: ChangeQuery, order: Order, page: Page): ChangeQuery {
  return ordered(query, order).limit(page.limit).offset(page.offset);
}
