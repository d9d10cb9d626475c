// Backends of a service's store: files in a directory of this process, and databases of a shared or private cluster.
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { openPool, StoreError, type StoreErrorCode, sqliteFileOf } from '@strata/db';
import { binaries, clusterAt, type MadeStore, notice, type PostgresCluster, startPostgres } from './postgres.ts';

export interface Backend {
  readonly name: string;
  /** Why the backend is unavailable, or false. */
  readonly skip: string | false;
  /** The URL of an empty store, not used before: its tables are there already, so that opening it is quick. */
  fresh(): Promise<string>;
  /** The URL of a database, or of a file to be, without any table. */
  empty(): Promise<string>;
}

interface StoreKind<Store extends AsyncDisposable> extends MadeStore {
  readonly open: (url: string) => Promise<Store>;
}

type UrlTest = (name: string, check: (url: string) => Promise<void>) => void;

let directory: string | undefined;
let files = 0;
let server: Promise<PostgresCluster> | undefined;

after(async () => {
  await (await server)?.[Symbol.asyncDispose]();
  if (directory) rmSync(directory, { recursive: true, force: true });
});

export function freshPath(): string {
  directory ??= mkdtempSync(path.join(tmpdir(), 'strata-store-'));
  files += 1;
  return path.join(directory, `${files}.db`);
}

/** Overwrites half of these pages of a file. */
export function damage(file: string, [from, to]: readonly [number, number]): void {
  const handle = openSync(file, 'r+');
  for (let page = from; page < to; page += 1) writeSync(handle, Buffer.alloc(2_000, 0xa5), 0, 2_000, page * 4_096);
  closeSync(handle);
}

/** The cluster of the run, which the variable names as its superuser's URL; without it, one of this process. */
export function postgresServer(): Promise<PostgresCluster> {
  const url = process.env.STRATA_TEST_POSTGRES;
  server ??= url ? Promise.resolve(clusterAt(url)) : startPostgres();
  return server;
}

export function backendsOf<Store extends AsyncDisposable>(kind: StoreKind<Store>) {
  const { open, asAnother } = kind;
  let template: Promise<string> | undefined;
  const inMemory = async () => 'sqlite::memory:';
  const memory: Backend = { name: 'SQLite in memory', skip: false, fresh: inMemory, empty: inMemory };
  const file: Backend = {
    name: 'a SQLite file',
    skip: false,
    async fresh() {
      template ??= (async (path) => {
        await (await open(`sqlite:${path}`))[Symbol.asyncDispose]();
        return path;
      })(freshPath());
      const [from, to] = [await template, freshPath()];
      copyFileSync(from, to);
      await exec(`sqlite:${to}`, `PRAGMA synchronous = OFF; ${asAnother()}`);
      return `sqlite:${to}`;
    },
    empty: async () => `sqlite:${freshPath()}`,
  };
  const postgres: Backend = {
    name: 'PostgreSQL',
    skip: binaries ? false : notice,
    fresh: async () => (await postgresServer()).migrated(kind),
    empty: async () => (await postgresServer()).fresh(),
  };
  /** Backends that outlive the store, can be opened twice, and whose tables can be queried. */
  const kept: readonly Backend[] = [file, postgres];

  /** Declares a test of a store that is empty, open and closed afterwards. */
  type StoreTest = (name: string, check: (store: Store, url: string) => Promise<void>) => void;

  function onEach(
    backends: readonly Backend[],
    name: string,
    tests: (backend: Backend, test: StoreTest, onFresh: UrlTest, onEmpty: UrlTest) => void,
  ): void {
    for (const backend of backends) {
      const onFresh: UrlTest = (name, check) => it(name, async () => check(await backend.fresh()));
      const onEmpty: UrlTest = (name, check) => it(name, async () => check(await backend.empty()));
      const test: StoreTest = (name, check) =>
        onFresh(name, async (url) => {
          await using store = await open(url);
          await check(store, url);
        });
      describe(`${name} on ${backend.name}`, { skip: backend.skip }, () => tests(backend, test, onFresh, onEmpty));
    }
  }
  return { memory, file, postgres, kept, onEach };
}

/** An error of the store with this code, and with what the driver reported as its cause. */
export const failsWith = (code: StoreErrorCode) => (error: unknown) =>
  error instanceof StoreError && error.code === code && error.cause !== undefined;

export type Row = Readonly<Record<string, unknown>>;

/** The rows of a query outside of the store; times and counts as numbers. */
export async function rows(url: string, sql: string): Promise<Row[]> {
  const path = pathOf(url);
  if (path === undefined) return (await onServer(url, sql)).rows;
  using database = new DatabaseSync(path);
  const found = database.prepare(sql).all();
  return found.map((row) => ({ ...row }));
}

export async function exec(url: string, sql: string): Promise<void> {
  const path = pathOf(url);
  if (path === undefined) return void (await onServer(url, sql));
  using database = new DatabaseSync(path);
  database.exec(sql);
}

export const pathOf = sqliteFileOf;

async function onServer(url: string, sql: string) {
  const pool = openPool(url, { poolSize: 1 });
  try {
    return await pool.query<Row>(sql);
  } finally {
    await pool.end();
  }
}
