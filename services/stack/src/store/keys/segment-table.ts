// Segments: the queries that a key has saved under a name.
import { writeTransaction } from '@strata/db';
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../schema.ts';

export interface Segment {
  /** Unique for its key. */
  readonly name: string;
  /** Valid when it was saved; it refers to no other segment. */
  readonly query: string;
  readonly updatedAt: Date;
}

export class SegmentTable {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;

  constructor(db: Kysely<Database>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** Saves or replaces; undefined if the key has `max` further ones. */
  async put(
    keyId: string,
    { name, query }: Pick<Segment, 'name' | 'query'>,
    max: number,
  ): Promise<Segment | undefined> {
    const row = { key_id: keyId, name, query, updated_at: this.#now().getTime() };
    return writeTransaction(this.#db, async (tx) => {
      const further = tx.selectFrom('saved_segments').where('key_id', '=', keyId).where('name', '!=', name);
      if ((await further.select('name').limit(max).execute()).length >= max) return undefined;
      const { query, updated_at } = row;
      await tx
        .insertInto('saved_segments')
        .values(row)
        .onConflict((conflict) => conflict.columns(['key_id', 'name']).doUpdateSet({ query, updated_at }))
        .execute();
      return segmentOf(row);
    });
  }

  async find(keyId: string, name: string): Promise<Segment | undefined> {
    const own = this.#db.selectFrom('saved_segments').where('key_id', '=', keyId).where('name', '=', name);
    const row = await own.selectAll().executeTakeFirst();
    return row && segmentOf(row);
  }

  /** In the order of names, after one of them. */
  async ofKey(keyId: string, limit: number, after = ''): Promise<Segment[]> {
    const own = this.#db.selectFrom('saved_segments').where('key_id', '=', keyId).where('name', '>', after);
    return (await own.orderBy('name').limit(limit).selectAll().execute()).map(segmentOf);
  }

  /** Whether the key had it. */
  async delete(keyId: string, name: string): Promise<boolean> {
    const own = this.#db.deleteFrom('saved_segments').where('key_id', '=', keyId).where('name', '=', name);
    return Number((await own.executeTakeFirst()).numDeletedRows) > 0;
  }
}

const segmentOf = ({ name, query, updated_at }: Selectable<Database['saved_segments']>): Segment => ({
  name,
  query,
  updatedAt: new Date(updated_at),
});
