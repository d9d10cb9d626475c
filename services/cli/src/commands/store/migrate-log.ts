// `strata stack migrate-log`: moves the ledger from the data directory to PostgreSQL, or back, or from the folder of an earlier version to rows.
import { refuseUsedDatabase } from '@strata/db';
import { type CopyProgress, importLedger, LogError, openLedgerTables, returnLedger } from '@strata/log';
import { encodeBase64 } from '@strata/receipts';
import type { Config } from '@strata/stack';
import { ledgerCheckpointIn, openStore } from '@strata/stack/store';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { runInterruptible } from '../../interruption.ts';
import { type OutputOptions, printJson } from '../../output.ts';
import { startCounter } from '../../progress.ts';
import { postgresAddress } from './migrate-store.ts';

export interface MigrateLogOptions extends OutputOptions {
  readonly back?: boolean;
}

export async function migrateLogCommand(
  context: CommandContext,
  address: string | undefined,
  { back = false, json = false }: MigrateLogOptions,
  config: Config,
): Promise<void> {
  const isLocal = !back && address === undefined && config.databaseUrl.startsWith('sqlite:');
  const url = isLocal ? undefined : await postgresAddress(address ?? config.databaseUrl, context.stdin);
  const published = ledgerCheckpointIn(config.databaseUrl, config.ledgerOrigin);
  const counter = startCounter('copied and checked', 'leaves', context.stderr);
  const done = { written: 0, checked: 0 };
  const run = runInterruptible(context, { state: 'run the same command again to continue' }, async (signal) => {
    const options = {
      directory: config.dataDirectory,
      origin: config.ledgerOrigin,
      now: () => new Date(),
      checkpointCopy: { read: async () => published, write: async () => {} },
      onProgress: ({ leaves, isChecking }: CopyProgress) => {
        done[isChecking ? 'checked' : 'written'] = leaves;
        counter.set((done.written + done.checked) / 2);
      },
      signal,
    };
    if (back) {
      await refuseUsedDatabase(url ?? '');
      await using from = await openLedgerTables(url ?? '');
      if (!from) throw new CommandError('the database has no ledger: check its URL');
      return await returnLedger({ ...options, from });
    }
    await using store = url === undefined ? undefined : await openStore(url, { poolSize: 2 });
    return await importLedger({ ...options, to: store?.ledger?.log });
  });
  const { size, added, root } = await run
    .finally(() => counter.stop())
    .catch((error: unknown) => {
      if (back || !(error instanceof LogError && error.code === 'moved')) throw error;
      throw new CommandError(
        `nothing left to migrate: an earlier run moved the ledger of ${config.dataDirectory} to a database. Set STRATA_DATABASE_URL to that database`,
      );
    });
  if (json) return printJson(context.stdout, { size, added, root: encodeBase64(root) });
  const where = isLocal || back ? `${config.dataDirectory}/ledger/ledger.db` : 'the database';
  const closed = back ? 'that of the database' : 'the folder';
  context.stdout.write(
    `${size} leaves checked, ${added} of them new in ${where}; the ledger continues there, and ${closed} is closed\n`,
  );
}
