// Counts single requests of many keys in batches: requests that arrive while a statement runs are counted by the next one, so
// that the number of statements depends on the database's speed, not on the request rate.
import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { listed } from '../statements/json-rows.ts';
import type { CommonTables } from '../tables.ts';

export interface QuotaUse {
  readonly isAllowed: boolean;
  /** Of the day's limit, as far as known; never less than reported before. */
  readonly used: number;
}

/** The UTC day of a request: `day`, or the latest day already counted for the key if that is later. */
export const reachedDay = (
  keyId: Expression<unknown>,
  day: string,
): RawBuilder<string> => sql`coalesce((select max(reached.day) from quota_usage as reached
    where reached.key_id = ${keyId} and reached.day > cast(${day} as text)), cast(${day} as text))`;

/** Maximum of keys in one statement, which locks their rows. */
const MAX_BATCH_KEYS = 500;

/** The waiting requests of one day and limit. */
interface Line {
  readonly day: string;
  readonly limit: number;
  /** By key; a batch counts one request of each. */
  readonly waiting: Map<string, PromiseWithResolvers<QuotaUse>[]>;
}

export class QuotaBatches {
  readonly #db: Kysely<CommonTables>;
  readonly #lines = new Map<string, Line>();

  constructor(db: Kysely<CommonTables>) {
    this.#db = db;
  }

  /** Counts one request unless the day's limit, which is above 0, is reached. Runs at once if no statement is in flight. */
  take(keyId: string, day: string, limit: number): Promise<QuotaUse> {
    const name = `${day} ${limit}`;
    let line = this.#lines.get(name);
    const isFirst = line === undefined;
    if (!line) {
      line = { day, limit, waiting: new Map() };
      this.#lines.set(name, line);
    }
    const request = Promise.withResolvers<QuotaUse>();
    const earlier = line.waiting.get(keyId);
    if (earlier) earlier.push(request);
    else line.waiting.set(keyId, [request]);
    if (isFirst) void this.#serve(name, line);
    return request.promise;
  }

  async #serve(name: string, line: Line): Promise<void> {
    while (line.waiting.size > 0) {
      const batch = takeBatch(line);
      try {
        const used = await this.#count([...batch.keys()], line);
        for (const [keyId, request] of batch) {
          const count = used.get(keyId);
          request.resolve(
            count === undefined ? { isAllowed: false, used: line.limit } : { isAllowed: true, used: count },
          );
        }
      } catch (error) {
        for (const request of batch.values()) request.reject(error);
      }
    }
    this.#lines.delete(name);
  }

  /** The new count of each key below its limit. One statement, so that two processes cannot both count the last request. */
  async #count(keyIds: readonly string[], { day, limit }: Line): Promise<ReadonlyMap<string, number>> {
    // In one order everywhere, so that two processes that lock rows of the same keys do not deadlock.
    const { rows } = await sql<{ key_id: string; used: number }>`
      insert into quota_usage (key_id, day, used)
      select value, ${reachedDay(sql`asked.value`, day)}, 1 from ${listed(this.#db, keyIds)} as asked where true order by value
      on conflict (key_id, day) do update set used = quota_usage.used + 1 where quota_usage.used < ${limit}
      returning key_id, used`.execute(this.#db);
    return new Map(rows.map(({ key_id, used }) => [key_id, used]));
  }
}

/** Removes the longest waiting request of each key. */
function takeBatch({ waiting }: Line): ReadonlyMap<string, PromiseWithResolvers<QuotaUse>> {
  const batch = new Map<string, PromiseWithResolvers<QuotaUse>>();
  // `toArray`, because keys are re-inserted during the iteration.
  for (const [keyId, [first, ...remaining]] of waiting.entries().take(MAX_BATCH_KEYS).toArray()) {
    if (first) batch.set(keyId, first);
    // A key with more requests goes to the end of the queue.
    waiting.delete(keyId);
    if (remaining.length > 0) waiting.set(keyId, remaining);
  }
  return batch;
}
