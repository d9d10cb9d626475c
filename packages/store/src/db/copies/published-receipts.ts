// Reads the receipts and the checkpoint that a store has published, to verify them against the ledger. The store may be in use.

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteFileOf } from '@strata/db';
import { checkpointName } from '../../stack/ledger/ledger.ts';
import { openPool } from '../dialects/postgres-dialect.ts';
import { storeErrorOf } from '../store-error.ts';
import { NEWEST_RECEIPTS } from './copy-manifest.ts';
import { receiptIn } from './sqlite-backup.ts';

const NEWEST = `select body from stream_events order by seq desc limit ${NEWEST_RECEIPTS}`;

/** The `cr_` ids of the newest receipts in `sqlite:<file>` or `postgres://…`; empty if there is no store. Rejects with StoreError. */
export async function publishedReceipts(url: string): Promise<string[]> {
  const file = sqliteFileOf(url);
  try {
    const bodies = file === undefined ? await onServer(url) : inFile(file);
    return bodies.flatMap(({ body }) => receiptIn(String(body)));
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** The newest checkpoint of a ledger folder that `sqlite:<file>` stores; undefined without one. Throws StoreError. */
export function ledgerCheckpointIn(url: string, origin: string): string | undefined {
  const file = sqliteFileOf(url);
  if (file === undefined || !existsSync(file)) return undefined;
  try {
    using database = new DatabaseSync(file, { timeout: 5_000 });
    const exists = database.prepare("select 1 from sqlite_schema where name = 'settings'").get();
    const row = exists && database.prepare('select value from settings where name = ?').get(checkpointName(origin));
    return row && String(row.value);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

type Body = { readonly body?: unknown };

function inFile(file: string): readonly Body[] {
  if (!existsSync(file)) return [];
  using database = new DatabaseSync(file, { timeout: 5_000 });
  const exists = database.prepare("select 1 from sqlite_schema where name = 'stream_events'").get();
  return exists ? database.prepare(NEWEST).all() : [];
}

async function onServer(url: string): Promise<readonly Body[]> {
  const pool = openPool(url, { poolSize: 1 });
  try {
    const { rows } = await pool.query<{ readonly name: string | null }>("select to_regclass('stream_events') as name");
    return rows[0]?.name ? (await pool.query<Body>(NEWEST)).rows : [];
  } finally {
    await pool.end();
  }
}
