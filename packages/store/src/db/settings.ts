// Rows of `settings`: single texts by their names.
import type { CompiledQuery, Kysely } from 'kysely';
import type { Database } from '../schema.ts';

export async function readSetting(db: Kysely<Database>, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst();
  return row?.value;
}

/** The query that sets a text, whether there is one or not. */
export const writeSetting = (db: Kysely<Database>, name: string, value: string): CompiledQuery =>
  db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .compile();
