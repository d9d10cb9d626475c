// Connections to a PostgreSQL server beside those of a store, and what they see of them.
import pg from 'pg';
import { rows } from './places.ts';

/** A connection of nobody's store. */
export async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** The numbers of the server's processes that work for this database. */
export async function backends(url: string, condition: string): Promise<number[]> {
  const query = `select pid from pg_stat_activity where datname = current_database() and ${condition}`;
  return (await rows(url, query)).map(({ pid }) => Number(pid));
}

/** Until so many statements wait for somebody's lock. */
export async function untilWaiting(url: string, count = 1): Promise<void> {
  while ((await backends(url, "wait_event_type = 'Lock'")).length < count);
}
