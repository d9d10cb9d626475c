// Counters for changes that no log records, and for the terms of locks. Other processes poll them to detect news.
import type { CompiledQuery, Kysely, Transaction } from 'kysely';
import type { CommonTables, Connection } from './tables.ts';

/** Adds to a counter in the transaction of the change that it counts, so that both become visible together. Returns the new value. */
export async function incrementCounter(tx: Transaction<CommonTables>, name: string, by = 1): Promise<number> {
  const { rows } = await tx.executeQuery(counterIncrement(tx, name, by));
  return rows[0]?.value ?? Number.NaN;
}

/** The query of `incrementCounter`. */
export function counterIncrement(
  db: Connection<CommonTables>,
  name: string,
  by = 1,
): CompiledQuery<{ readonly value: number }> {
  const all: Kysely<CommonTables> = db;
  return all
    .insertInto('counters')
    .values({ name, value: by })
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', by) })))
    .returning('value')
    .compile();
}

export async function counterOf(db: Connection<CommonTables>, name: string): Promise<number> {
  const all: Kysely<CommonTables> = db;
  const row = await all.selectFrom('counters').where('name', '=', name).select('value').executeTakeFirst();
  return row?.value ?? 0;
}
