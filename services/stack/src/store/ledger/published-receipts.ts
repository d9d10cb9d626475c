// Reads the receipts and the checkpoint that a store has published, to verify them against the ledger. The store may be in use.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checkpointName, openImmutable, openPool, type RowsText, sqliteFileOf, storeErrorOf } from '@strata/db';

/** How many of the newest published receipts are verified against the ledger. */
const NEWEST_RECEIPTS = 10_000;
const NEWEST = `select body from stream_events order by seq desc limit ${NEWEST_RECEIPTS}`;

/** The `cr_` ids of the newest receipts in `sqlite:<file>` or `postgres://…`; empty if there is no store. Rejects with StoreError. */
export async function publishedReceipts(url: string): Promise<string[]> {
  const file = sqliteFileOf(url);
  try {
    return file === undefined ? await onServer(url) : inFile(file);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** The newest checkpoint of a ledger in a data directory that `sqlite:<file>` stores; undefined without one. Throws StoreError. */
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

/** The ledger ids of the newest receipts that the store published. */
export function receiptsInSqliteCopy(file: string): string[] {
  using copy = openImmutable(file);
  return receiptsIn(copy);
}

/** The ledger receipt ids of the newest rows of `stream_events`. */
export async function receiptsInRows(rows: RowsText): Promise<string[]> {
  let ids: string[] = [];
  let incomplete = '';
  const decoder = new TextDecoder();
  for await (const piece of rows) {
    const lines = (incomplete + decoder.decode(piece, { stream: true })).split('\n');
    incomplete = lines.pop() ?? '';
    for (const line of lines) ids.push(...receiptIn(line));
    if (ids.length > 2 * NEWEST_RECEIPTS) ids = ids.slice(-NEWEST_RECEIPTS);
  }
  return ids.slice(-NEWEST_RECEIPTS);
}

function receiptsIn(database: DatabaseSync): string[] {
  if (!database.prepare("select 1 from sqlite_schema where name = 'stream_events'").get()) return [];
  return Array.from(database.prepare(NEWEST).iterate(), ({ body }) => receiptIn(String(body))).flat();
}

function inFile(file: string): string[] {
  if (!existsSync(file)) return [];
  using database = new DatabaseSync(file, { timeout: 5_000 });
  return receiptsIn(database);
}

async function onServer(url: string): Promise<string[]> {
  const pool = openPool(url, { poolSize: 1 });
  try {
    const { rows } = await pool.query<{ readonly name: string | null }>("select to_regclass('stream_events') as name");
    if (!rows[0]?.name) return [];
    const newest = await pool.query<{ readonly body: string }>(NEWEST);
    return newest.rows.flatMap(({ body }) => receiptIn(body));
  } finally {
    await pool.end();
  }
}

/** `cr_` ids in the text of a signed event. */
function receiptIn(text: string): readonly string[] {
  return /"ledger_receipt_id":"(cr_[a-z2-7]{32})"/.exec(text)?.slice(1) ?? [];
}
