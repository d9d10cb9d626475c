// The ledger of a database when the store is copied: read without the store, and filled by a restore.
import {
  type LoadOptions,
  loadPostgres,
  openPool,
  postgresDialect,
  type RowsText,
  type StoreCopy,
  StoreError,
  storeErrorOf,
} from '@strata/db';
import { Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { stackSchema } from '../stack-schema.ts';
import { LedgerKeyTable, LedgerTable, type LedgerTables } from './ledger.ts';

/**
 * The ledger of the database of a `postgres://` URL; the schema is not upgraded. Undefined if the database has no ledger:
 * the schema is older, or no leaf was appended. Rejects with StoreError.
 */
export async function openLedgerTables(url: string): Promise<(LedgerTables & AsyncDisposable) | undefined> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPool(url, { poolSize: 1 })) });
  try {
    const { rows } = await sql<{ name: string | null }>`select to_regclass('ledger_head') as name`.execute(db);
    const tables = tablesOf(db);
    if (rows[0]?.name && (await tables.log.head())) return { ...tables, [Symbol.asyncDispose]: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw storeErrorOf(error);
  }
  await db.destroy();
  return undefined;
}

const tablesOf = (db: Kysely<Database>): LedgerTables => ({ log: new LedgerTable(db), keys: new LedgerKeyTable(db) });

export interface RestoreOptions extends Omit<LoadOptions<Database>, 'finish'> {
  /** Fills the ledger, which is empty and has no head, in the same transaction after the rows. A rejection aborts the restore. */
  readonly fillLedger?: (ledger: LedgerTables) => Promise<void>;
}

/** As `loadPostgres`; the database must hold no ledger leaves either. */
export async function restorePostgres(
  url: string,
  copy: StoreCopy,
  read: (table: string) => RowsText,
  { fillLedger, ...options }: RestoreOptions = {},
): Promise<void> {
  await loadPostgres<Database>(stackSchema, url, copy, read, {
    ...options,
    async finish(tx) {
      await clearLedger(tx);
      await fillLedger?.(tablesOf(tx));
    },
  });
}

/** A node that was started on the empty database has created a ledger head and published its keys. */
async function clearLedger(tx: Kysely<Database>): Promise<void> {
  const head = await tx.selectFrom('ledger_head').select('size').forUpdate().executeTakeFirst();
  if (head?.size) throw new StoreError('not-empty', { cause: new Error(`its ledger has ${head.size} leaves`) });
  await tx.deleteFrom('ledger_head').execute();
  await tx.deleteFrom('ledger_keys').execute();
}
