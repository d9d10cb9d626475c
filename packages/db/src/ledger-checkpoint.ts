// The newest checkpoint of a ledger that is not in this database: a ledger that loses leaves does not lose this copy.
import type { Kysely } from 'kysely';
import { readSetting, writeSetting } from './settings.ts';
import type { CommonTables } from './tables.ts';

export class LedgerCheckpoint {
  readonly #db: Kysely<CommonTables>;
  readonly #name: string;

  constructor(db: Kysely<CommonTables>, origin: string) {
    this.#db = db;
    this.#name = checkpointName(origin);
  }

  /** The signed note; undefined before the first write. */
  async read(): Promise<string | undefined> {
    return readSetting(this.#db, this.#name);
  }

  async write(value: string): Promise<void> {
    await this.#db.executeQuery(writeSetting(this.#db, this.#name, value));
  }
}

/** The key in `settings`: a log with another origin is another log. */
export const checkpointName = (origin: string): string => `ledger-checkpoint ${origin}`;
