// Rows of `settings`: single texts by name, shared by the processes of a store.
import type { CompiledQuery, Kysely } from 'kysely';
import type { CommonTables, Connection } from './tables.ts';
import { writeTransaction } from './transactions/write-transaction.ts';

export class TextTable {
  readonly #db: Kysely<CommonTables>;

  constructor(db: Kysely<CommonTables>) {
    this.#db = db;
  }

  get(name: string): Promise<string | undefined> {
    return readSetting(this.#db, name);
  }

  async put(name: string, value: string): Promise<void> {
    await this.#db.executeQuery(writeSetting(this.#db, name, value));
  }

  /** Writes all texts in one transaction if `name` still has the text `expected`; else writes none, and resolves to false. */
  replace(name: string, expected: string | undefined, texts: Readonly<Record<string, string>>): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      if ((await readSetting(tx, name)) !== expected) return false;
      for (const [each, value] of Object.entries(texts)) await tx.executeQuery(writeSetting(tx, each, value));
      return true;
    });
  }
}

export async function readSetting(db: Connection<CommonTables>, name: string): Promise<string | undefined> {
  const all: Kysely<CommonTables> = db;
  const row = await all.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst();
  return row?.value;
}

/** The query that inserts or replaces a text. */
export function writeSetting(db: Connection<CommonTables>, name: string, value: string): CompiledQuery {
  const all: Kysely<CommonTables> = db;
  return all
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .compile();
}
