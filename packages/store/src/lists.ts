// Lists over all domains that come from the tables themselves: recent changes, and what one domain's scans saw.
import type { Category, ChangeType } from '@strata/detect';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { type StoredChange, storedChange } from './domains.ts';
import type { Database } from './schema.ts';

export interface ListedChange extends StoredChange {
  readonly domain: string;
}

export interface ChangeFilter {
  readonly type: ChangeType;
  /** Provider id; with `direction` only changes to (`in`) or away from it (`out`). */
  readonly provider?: string;
  readonly direction?: 'in' | 'out';
  readonly category?: Category;
}

type ChangeQuery = SelectQueryBuilder<Database, 'changes' | 'domains', object>;

export class ListTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Newest first, by `at`, then by id: total, so that a page repeats nothing while nothing is recorded. */
  async changes(
    filter: ChangeFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<ListedChange[]> {
    const { type, provider, direction, category } = filter;
    const start = (): ChangeQuery => {
      const query = this.#db
        .selectFrom('changes')
        .innerJoin('domains', 'domains.id', 'changes.domain_id')
        .where('changes.type', '=', type);
      return category ? query.where('changes.category', '=', category) : query;
    };
    if (provider === undefined) return this.#read(start(), page);
    const comings = start().where('changes.to_provider', '=', provider);
    const goings = start().where('changes.from_provider', '=', provider);
    if (direction !== undefined) return this.#read(direction === 'in' ? comings : goings, page);
    // One index for each side; together in one condition they would be sorted whole.
    const most = { limit: page.offset + page.limit, offset: 0 };
    const both = [...(await this.#read(comings, most)), ...(await this.#read(goings, most))];
    return both
      .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1))
      .slice(page.offset, page.offset + page.limit);
  }

  async #read(query: ChangeQuery, page: { readonly limit: number; readonly offset: number }): Promise<ListedChange[]> {
    const rows = await query
      .selectAll('changes')
      .select('domains.name')
      .orderBy('changes.at', 'desc')
      .orderBy('changes.id', 'desc')
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    return rows.map(({ name, ...row }) => ({ ...storedChange(row), domain: name }));
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
