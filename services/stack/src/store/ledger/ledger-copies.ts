// Restores a PostgreSQL store with its ledger.
import { type LoadOptions, loadPostgres, type RowsText, type StoreCopy, StoreError } from '@strata/db';
import { type LedgerTables, ledgerTablesIn } from '@strata/log';
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { stackSchema } from '../stack-schema.ts';

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
      await fillLedger?.(ledgerTablesIn(tx));
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
