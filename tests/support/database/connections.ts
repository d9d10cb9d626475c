// Connections to a PostgreSQL server in addition to those of a store, and the server's view of all.

import { openFile, openPool, postgresDialect, sqliteDialect } from '@strata/db';
import { Kysely, type Logger } from 'kysely';
import pg from 'pg';
import { until } from '../until.ts';
import { exec, pathOf, rows } from './backends.ts';

export function databaseOf<Tables>(url: string, log: Logger = () => {}): Kysely<Tables> {
  const path = pathOf(url);
  const dialect =
    path === undefined ? postgresDialect(openPool(url, { isPipelined: true })) : sqliteDialect(openFile(path));
  return new Kysely({ dialect, log });
}

export async function connect(url: string, first = 'select 1'): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.query(first);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** The numbers of the server's processes that work for this database. */
export async function backends(url: string, condition: string): Promise<number[]> {
  const query = `select pid from pg_stat_activity where datname = current_database() and ${condition}`;
  return (await rows(url, query)).map(({ pid }) => Number(pid));
}

/** Terminates these processes, or cancels their statements. */
export async function terminate(url: string, condition: string, how: 'terminate' | 'cancel' = 'terminate') {
  for (const pid of await backends(url, condition)) await exec(url, `select pg_${how}_backend(${pid})`);
}

export async function untilWaiting(url: string, count = 1): Promise<void> {
  const isWaiting = async () => (await backends(url, "wait_event_type = 'Lock'")).length >= count;
  await until(isWaiting, { what: `${count} wait for a lock`, intervalMs: 20 });
}

/** Names of the tables, without those of the database and of Kysely. */
export async function tablesOf(url: string): Promise<string[]> {
  const named = await rows(
    url,
    pathOf(url)
      ? "select name from sqlite_schema where type = 'table'"
      : 'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  return named
    .map(({ name }) => String(name))
    .filter((name) => !/^(?:sqlite|kysely)_/.test(name))
    .sort();
}
