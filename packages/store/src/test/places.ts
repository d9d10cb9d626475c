// The kinds of place that a store can be in. Each test file has its own: files in a directory that goes away with it, and one
// PostgreSQL server, started when it is first needed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe } from 'node:test';
import { openPool } from '../postgres-dialect.ts';
import { binaries, notice, type PostgresServer, startPostgres } from './postgres.ts';

export interface Place {
  readonly name: string;
  /** Why it cannot be had here, or false. */
  readonly skip: string | false;
  /** The URL of a database that nobody has used. */
  fresh(): Promise<string>;
}

let directory: string | undefined;
let files = 0;
let server: Promise<PostgresServer> | undefined;

after(async () => {
  await (await server)?.[Symbol.asyncDispose]();
  if (directory) rmSync(directory, { recursive: true, force: true });
});

/** A path where nothing is yet. */
export function freshPath(): string {
  directory ??= mkdtempSync(path.join(tmpdir(), 'strata-store-'));
  files += 1;
  return path.join(directory, `${files}.db`);
}

/** The server of this test file. */
export function postgresServer(): Promise<PostgresServer> {
  server ??= startPostgres();
  return server;
}

export const memory: Place = { name: 'SQLite in memory', skip: false, fresh: async () => 'sqlite::memory:' };
export const file: Place = { name: 'a SQLite file', skip: false, fresh: async () => `sqlite:${freshPath()}` };
export const postgres: Place = {
  name: 'PostgreSQL',
  skip: binaries ? false : notice,
  fresh: async () => (await postgresServer()).fresh(),
};

/** Places that outlive the store, may be opened twice at once, and have tables that can be looked into. */
export const kept: readonly Place[] = [file, postgres];
export const places: readonly Place[] = [memory, ...kept];

/** The same tests in each of these places. */
export function onEach(places: readonly Place[], name: string, tests: (place: Place) => void): void {
  for (const place of places) describe(`${name} on ${place.name}`, { skip: place.skip }, () => tests(place));
}

export type Row = Readonly<Record<string, unknown>>;

/** What a query gives, behind the store's back; times and counts as numbers. */
export async function rows(url: string, sql: string): Promise<Row[]> {
  const path = pathOf(url);
  if (path === undefined) return (await onServer(url, sql)).rows;
  using database = new DatabaseSync(path);
  return database
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}

/** Statements, without values, behind the store's back. */
export async function exec(url: string, sql: string): Promise<void> {
  const path = pathOf(url);
  if (path === undefined) return void (await onServer(url, sql));
  using database = new DatabaseSync(path);
  database.exec(sql);
}

/** The file of a place, or undefined of one on a server. */
export function pathOf(url: string): string | undefined {
  return /^sqlite:(.+)$/.exec(url)?.[1];
}

async function onServer(url: string, sql: string) {
  const pool = openPool(url, { poolSize: 1 });
  try {
    return await pool.query<Row>(sql);
  } finally {
    await pool.end();
  }
}
