// Queries over the history tables: recent changes, and the scans of one domain.
import type { Category, ChangeType, DomainState, Source } from '@strata/detect';
import { type Kysely, sql } from 'kysely';
import { type StoredChange, storedChange } from '../domains/domains.ts';
import type { Database } from '../schema.ts';
import { type ChangeQuery, newest, type Order, ordered, type Page } from './change-pages.ts';

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
  /** Only changes confirmed at or before this time; with `since`. */
  readonly until?: Date;
}

/** Domains that began to use a provider in any category, or stopped using it in all. */
export interface CustomerFilter {
  readonly provider: string;
  readonly direction: 'in' | 'out';
  /** Confirmed at or after this moment. */
  readonly since: Date;
  /** Confirmed at or before this moment. */
  readonly until?: Date;
}

/** Time in milliseconds since the epoch; `unmeasured`: a scan that resolved nothing. */
export interface IncompleteScan {
  readonly at: number;
  readonly state: DomainState;
  readonly unmeasured: readonly Source[];
}

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
   * Newest first by `at` (by `confirmed_at` with `since`), then by id: a total order, so that pages from `after` neither skip nor
   * repeat.
   */
  async changes(filter: ChangeFilter, page: Page): Promise<ListedChange[]> {
    const { type, provider, direction, other, category, since, until } = filter;
    const order: Order = since === undefined ? 'at' : 'confirmed_at';
    const start = (): ChangeQuery => {
      let query: ChangeQuery = this.#db.selectFrom('changes').where('changes.type', '=', type);
      if (since) query = within(query, { since, until });
      return category ? query.where('changes.category', '=', category) : query;
    };
    if (provider === undefined) return this.#read(newest(start(), order, page));
    const side = (direction: 'in' | 'out') => {
      const query = start().where(`changes.${COLUMN[direction]}`, '=', provider);
      return other === undefined ? query : query.where(`changes.${COLUMN[OPPOSITE[direction]]}`, '=', other);
    };
    if (direction !== undefined) return this.#read(newest(side(direction), order, page));
    // Each side uses its own index; a single condition would sort all rows. Full rows are read only for the page.
    const max = { ...page, limit: page.offset + page.limit, offset: 0 };
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
  async customers(filter: CustomerFilter, page: Page): Promise<ListedChange[]> {
    return this.#read(newest(this.#customers(filter), 'confirmed_at', page));
  }

  async countCustomers(filter: CustomerFilter): Promise<number> {
    const count = this.#customers(filter).select(sql<number>`count(*)`.as('n'));
    return Number((await count.executeTakeFirstOrThrow()).n);
  }

  #customers({ provider, direction, since, until }: CustomerFilter): ChangeQuery {
    const ofProvider = this.#db
      .selectFrom('changes')
      .where(`changes.${COLUMN[direction]}`, '=', provider)
      .where('changes.type', 'in', MOVEMENTS)
      .where(direction === 'in' ? 'changes.is_entry' : 'changes.is_exit', '=', 1);
    return within(ofProvider, { since, until });
  }

  /** All migrations to (`in`) or away from (`out`) a provider of the domains of these changes, within their confirmation times. */
  async movesOf(
    { provider, direction }: Pick<CustomerFilter, 'provider' | 'direction'>,
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

  async namesOf(domainIds: readonly number[]): Promise<Map<number, string>> {
    if (domainIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('domains')
      .where('id', 'in', [...new Set(domainIds)])
      .select(['id', 'name'])
      .execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Security scores of the names that are stored, scanned or not; some thousand names. */
  async scoresOf(names: readonly string[]): Promise<Map<string, number | null>> {
    if (names.length === 0) return new Map();
    const rows = await this.#db.selectFrom('domains').where('name', 'in', names).select(['name', 'score']).execute();
    return new Map(rows.map(({ name, score }) => [name, score]));
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

  /** Which of a domain's latest scans (at most `among`) could not measure some sources, newest first. */
  async incompleteScans(domain: string, limit: number, among = 200): Promise<readonly IncompleteScan[]> {
    const latest = this.#db
      .selectFrom('scans')
      .where('domain_id', '=', (db) => db.selectFrom('domains').where('name', '=', domain).select('id'))
      .orderBy('started_at', 'desc')
      .limit(among)
      .select(['started_at', 'observed_at as at', 'state', 'unmeasured']);
    const rows = await this.#db
      .selectFrom(latest.as('latest'))
      .where('unmeasured', '!=', '')
      .orderBy('started_at', 'desc')
      .limit(limit)
      .select(['at', 'state', 'unmeasured'])
      .execute();
    return rows.map(({ at, state, unmeasured }) => ({ at, state, unmeasured: unmeasured.split(',') as Source[] }));
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

function within(query: ChangeQuery, { since, until }: { readonly since: Date; readonly until: Date | undefined }) {
  const later = query.where('changes.confirmed_at', '>=', since.getTime());
  return until ? later.where('changes.confirmed_at', '<=', until.getTime()) : later;
}
