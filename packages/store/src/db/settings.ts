// Rows of `settings`: single texts by name, shared by the processes of a store.
import type { CompiledQuery, Kysely } from 'kysely';
import type { Database } from '../schema.ts';

export class TextTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  get(name: string): Promise<string | undefined> {
    return readSetting(this.#db, name);
  }

  async put(name: string, value: string): Promise<void> {
    await this.#db.executeQuery(writeSetting(this.#db, name, value));
  }
}

export async function readSetting(db: Kysely<Database>, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst();
  return row?.value;
}

/** The query that inserts or replaces a text. */
export const writeSetting = (db: Kysely<Database>, name: string, value: string): CompiledQuery =>
  db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .compile();
