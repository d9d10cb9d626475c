// Requests that are counted one by one, of many keys at once: those that come while a statement is under way go with the next one, so
// that a busy process asks for as many statements as the database ends, not for one a request.
import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { listed } from '../db/statements/json-rows.ts';
import type { Database } from '../schema.ts';

export interface QuotaUse {
  readonly isAllowed: boolean;
  /** Of the day's limit, as far as is known; never less than what was answered. */
  readonly used: number;
}

/** The day that a key is in when the clock says `day`: the latest that was counted for it, where that is later. */
export const reachedDay = (
  keyId: Expression<unknown>,
  day: string,
): RawBuilder<string> => sql`coalesce((select max(reached.day) from quota_usage as reached
    where reached.key_id = ${keyId} and reached.day > cast(${day} as text)), cast(${day} as text))`;

/** Keys of one statement: others wait for their rows while it is under way. */
const LARGEST_TURN = 500;

/** All requests of one day and limit. */
interface Line {
  readonly day: string;
  readonly limit: number;
  /** By key; each has one request in a turn. */
  readonly waiting: Map<string, PromiseWithResolvers<QuotaUse>[]>;
}

export class QuotaBatches {
  readonly #db: Kysely<Database>;
  readonly #lines = new Map<string, Line>();

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Counts one request unless the day's limit, above 0, is reached. Alone it goes at once. */
  take(keyId: string, day: string, limit: number): Promise<QuotaUse> {
    const name = `${day} ${limit}`;
    let line = this.#lines.get(name);
    const isFirst = line === undefined;
    if (!line) {
      line = { day, limit, waiting: new Map() };
      this.#lines.set(name, line);
    }
    const asked = Promise.withResolvers<QuotaUse>();
    const before = line.waiting.get(keyId);
    if (before) before.push(asked);
    else line.waiting.set(keyId, [asked]);
    if (isFirst) void this.#serve(name, line);
    return asked.promise;
  }

  async #serve(name: string, line: Line): Promise<void> {
    while (line.waiting.size > 0) {
      const turn = takeTurn(line);
      try {
        const used = await this.#count([...turn.keys()], line);
        for (const [keyId, asked] of turn) {
          const count = used.get(keyId);
          asked.resolve(
            count === undefined ? { isAllowed: false, used: line.limit } : { isAllowed: true, used: count },
          );
        }
      } catch (error) {
        for (const asked of turn.values()) asked.reject(error);
      }
    }
    this.#lines.delete(name);
  }

  /** The new count of each key that had one left. One statement, so that two processes cannot both take the last. */
  async #count(keyIds: readonly string[], { day, limit }: Line): Promise<ReadonlyMap<string, number>> {
    // In one order everywhere: two processes that lock the rows of the same keys must not wait for each other.
    const { rows } = await sql<{ key_id: string; used: number }>`
      insert into quota_usage (key_id, day, used)
      select value, ${reachedDay(sql`asked.value`, day)}, 1 from ${listed(this.#db, keyIds)} as asked where true order by value
      on conflict (key_id, day) do update set used = quota_usage.used + 1 where quota_usage.used < ${limit}
      returning key_id, used`.execute(this.#db);
    return new Map(rows.map(({ key_id, used }) => [key_id, used]));
  }
}

/** The longest waiting request of each key. */
function takeTurn({ waiting }: Line): ReadonlyMap<string, PromiseWithResolvers<QuotaUse>> {
  const turn = new Map<string, PromiseWithResolvers<QuotaUse>>();
  // Taken out before any is put back.
  for (const [keyId, [first, ...others]] of waiting.entries().take(LARGEST_TURN).toArray()) {
    if (first) turn.set(keyId, first);
    // Whoever has more to ask stands behind all others again.
    waiting.delete(keyId);
    if (others.length > 0) waiting.set(keyId, others);
  }
  return turn;
}
