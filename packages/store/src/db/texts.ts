// Single texts that the processes of a store share, by their names.
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { readSetting, writeSetting } from './settings.ts';

export class TextTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  get(name: string): Promise<string | undefined> {
    return readSetting(this.#db, name);
  }

  /** Replaces the text of this name. */
  async put(name: string, value: string): Promise<void> {
    await this.#db.executeQuery(writeSetting(this.#db, name, value));
  }
}
