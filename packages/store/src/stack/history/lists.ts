// Lists over all domains that come from the tables themselves: recent changes, and what one domain's scans saw.
import type { Category, ChangeType } from '@strata/detect';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Database } from '../../schema.ts';
import { type StoredChange, storedChange } from '../domains/domains.ts';

export interface ListedChange extends StoredChange {
  /** The store's number of the domain: thousands of names would be a read each, and the index has them at hand. */
  readonly domainId: number;
}

export interface ChangeFilter {
  readonly type: ChangeType;
  /** Provider id; with `direction` only changes to (`in`) or away from it (`out`). */
  readonly provider?: string;
  readonly direction?: 'in' | 'out';
  /** Id of the provider at the other end; means nothing without `provider`. */
  readonly other?: string;
  readonly category?: Category;
  /** Only those confirmed at or after this moment; the order is then by confirmation. */
  readonly since?: Date;
}

/** The domains that began to use a provider at all, or that stopped using it altogether. */
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
/** By which time a list goes: what happened lately, or what was confirmed within a window. */
type Order = 'at' | 'confirmed_at';

/** A change of our rules is nobody's coming or going. */
const MOVEMENTS: readonly ChangeType[] = ['added', 'removed', 'migrated'];
const COLUMN = { in: 'to_provider', out: 'from_provider' } as const;
const OPPOSITE = { in: 'out', out: 'in' } as const;

export class ListTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /**
   * Newest first, by `at` (by `confirmed_at` where `since` is given), then by id: total, so that a page repeats nothing while
   * nothing is recorded.
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
    const side = (way: 'in' | 'out') => {
      const query = start().where(`changes.${COLUMN[way]}`, '=', provider);
      return other === undefined ? query : query.where(`changes.${COLUMN[OPPOSITE[way]]}`, '=', other);
    };
    if (direction !== undefined) return this.#read(newest(side(direction), order, page));
    // One index for each side: together in one condition they would be sorted whole. Rows are read of those that are told alone.
    const max = { limit: page.offset + page.limit, offset: 0 };
    const keys = (way: 'in' | 'out', name: string) =>
      newest(side(way), order, max)
        .select(['changes.id', `changes.${order} as time`])
        .as(name);
    const told = this.#db
      .selectFrom((query) =>
        query
          .selectFrom(keys('in', 'comings'))
          .selectAll()
          .union(query.selectFrom(keys('out', 'goings')).selectAll())
          .as('sides'),
      )
      .select('sides.id')
      .orderBy('sides.time', 'desc')
      .orderBy('sides.id', 'desc')
      .limit(page.limit)
      .offset(page.offset);
    return this.#read(ordered(this.#db.selectFrom('changes').where('changes.id', 'in', told), order));
  }

  /** One change for each domain that came or went, the last confirmed first, then by id. */
  async customers({ provider, direction, since }: CustomerFilter, page: Page): Promise<ListedChange[]> {
    const query = this.#db
      .selectFrom('changes')
      .where(`changes.${COLUMN[direction]}`, '=', provider)
      .where('changes.type', 'in', MOVEMENTS)
      .where('changes.confirmed_at', '>=', since.getTime())
      .where(direction === 'in' ? 'changes.is_entry' : 'changes.is_exit', '=', 1);
    return this.#read(newest(query, 'confirmed_at', page));
  }

  /** Every migration to (`in`) or away from (`out`) a provider that was confirmed at one of these moments, of these domains. */
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

  /** Names of domains by their numbers. */
  async namesOf(domainIds: readonly number[]): Promise<Map<number, string>> {
    if (domainIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('domains')
      .where('id', 'in', [...new Set(domainIds)])
      .select(['id', 'name'])
      .execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Numbers of those names that are known, scanned or not; at most 1,000 names. */
  async idsOf(names: readonly string[]): Promise<Map<string, number>> {
    if (names.length === 0) return new Map();
    const rows = await this.#db.selectFrom('domains').where('name', 'in', names).select(['id', 'name']).execute();
    return new Map(rows.map(({ id, name }) => [name, id]));
  }

  /** A domain's scans since a time under one rulebook, oldest first: how many services and records each saw. */
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

  /** When the changes of a domain since a time were confirmed. */
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
