// Rows for exports of complete tables: each statement reads a bounded range of a primary key.
import type { Category, ConfidenceLevel, Role } from '@strata/detect';
import type { Kysely } from 'kysely';
import { storedChange } from '../domains/domains.ts';
import type { Database } from '../schema.ts';
import type { ListedChange } from './lists.ts';

/** Ids of changes in one statement, existing or deleted. */
const CHANGES = 2_000;

/** A service that a domain has now. Times are milliseconds since the epoch. */
export interface CurrentService {
  readonly domainId: number;
  readonly category: Category;
  readonly role: Role;
  readonly provider: string;
  readonly confidence: ConfidenceLevel;
  readonly firstObserved: number;
  /** Null: observed by the last scan. */
  readonly lastObserved: number | null;
}

export class BulkRows {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** All changes that are recorded now, in the order of their confirmation, in batches. */
  async *changes(): AsyncGenerator<ListedChange[]> {
    const { first, last } = await this.#db
      .selectFrom('changes')
      .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
      .executeTakeFirstOrThrow();
    if (first === null || last === null) return;
    for (let from = Number(first); from <= Number(last); from += CHANGES) {
      const rows = await this.#db
        .selectFrom('changes')
        .where('id', '>=', from)
        .where('id', '<', from + CHANGES)
        .orderBy('id')
        .selectAll()
        .execute();
      yield rows.map((row) => ({ ...storedChange(row), domainId: row.domain_id }));
    }
  }

  /** The confirmed services of some hundred domains, by domain and category. */
  async services(domainIds: readonly number[]): Promise<CurrentService[]> {
    if (domainIds.length === 0) return [];
    return this.#db
      .selectFrom('services')
      .where('domain_id', 'in', domainIds)
      .where('valid_to', 'is', null)
      .where('status', '!=', 'pending')
      .orderBy('domain_id')
      .orderBy('category')
      .orderBy('id')
      .select([
        'domain_id as domainId',
        'category',
        'role',
        'provider',
        'confidence',
        'valid_from as firstObserved',
        'last_seen as lastObserved',
      ])
      .execute();
  }

  /** What the last scan of each domain could not measure, of those where it was incomplete: sources, separated by commas. */
  async unmeasured(domainIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
    if (domainIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('domains')
      .where('id', 'in', domainIds)
      .select((db) => [
        'id',
        db
          .selectFrom('scans')
          .whereRef('scans.domain_id', '=', 'domains.id')
          .orderBy('started_at', 'desc')
          .limit(1)
          .select('unmeasured')
          .as('unmeasured'),
      ])
      .execute();
    return new Map(rows.flatMap(({ id, unmeasured }) => (unmeasured ? [[id, unmeasured] as const] : [])));
  }
}
