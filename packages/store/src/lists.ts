// Lists over all domains that come from the tables themselves: recent changes, and what one domain's scans saw.
import type { Category, ChangeType } from '@strata/detect';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { type StoredChange, storedChange } from './domains.ts';
import type { Database } from './schema.ts';

export interface ListedChange extends StoredChange {
  /** The store's number of the domain: thousands of names would be a read each, and the index has them at hand. */
  readonly domainId: number;
}

export interface ChangeFilter {
  readonly type: ChangeType;
  /** Provider id; with `direction` only changes to (`in`) or away from it (`out`). */
  readonly provider?: string;
  readonly direction?: 'in' | 'out';
  readonly category?: Category;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

type ChangeQuery = SelectQueryBuilder<Database, 'changes', object>;

export class ListTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Newest first, by `at`, then by id: total, so that a page repeats nothing while nothing is recorded. */
  async changes(filter: ChangeFilter, page: Page): Promise<ListedChange[]> {
    const { type, provider, direction, category } = filter;
    const start = (): ChangeQuery => {
      const query = this.#db.selectFrom('changes').where('changes.type', '=', type);
      return category ? query.where('changes.category', '=', category) : query;
    };
    if (provider === undefined) return this.#read(newest(start(), page));
    const comings = start().where('changes.to_provider', '=', provider);
    const goings = start().where('changes.from_provider', '=', provider);
    if (direction !== undefined) return this.#read(newest(direction === 'in' ? comings : goings, page));
    // One index for each side: together in one condition they would be sorted whole. Rows are read of those that are told alone.
    const most = { limit: page.offset + page.limit, offset: 0 };
    const keys = (side: ChangeQuery, name: string) => newest(side, most).select(['changes.id', 'changes.at']).as(name);
    const told = this.#db
      .selectFrom((query) =>
        query
          .selectFrom(keys(comings, 'comings'))
          .selectAll()
          .union(query.selectFrom(keys(goings, 'goings')).selectAll())
          .as('sides'),
      )
      .select('sides.id')
      .orderBy('sides.at', 'desc')
      .orderBy('sides.id', 'desc')
      .limit(page.limit)
      .offset(page.offset);
    return this.#read(
      this.#db
        .selectFrom('changes')
        .where('changes.id', 'in', told)
        .orderBy('changes.at', 'desc')
        .orderBy('changes.id', 'desc'),
    );
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

function newest(query: ChangeQuery, page: Page): ChangeQuery {
  return query.orderBy('changes.at', 'desc').orderBy('changes.id', 'desc').limit(page.limit).offset(page.offset);
}
