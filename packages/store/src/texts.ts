// Single texts that the processes of a store share, by their names.
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export class TextTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async get(name: string): Promise<string | undefined> {
    const row = await this.#db.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst();
    return row?.value;
  }

  /** Replaces the text of this name. */
  async put(name: string, value: string): Promise<void> {
    await this.#db
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}
