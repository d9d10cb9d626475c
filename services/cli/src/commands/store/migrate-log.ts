// `strata stack migrate-log`: the ledger of the data directory brought to PostgreSQL, where it goes on.
import { importLedger, LogError } from '@strata/log';
import { encodeBase64 } from '@strata/receipts';
import { type Config, sharedLedgerOf } from '@strata/stack';
import { openStore } from '@strata/store';
import { type CommandContext, listenForInterruption } from '../../context.ts';
import { CommandError, type OutputOptions, printJson } from '../../output.ts';
import { startTally } from '../../progress.ts';
import { postgresAddress } from './migrate-store.ts';

export async function migrateLogCommand(
  context: CommandContext,
  address: string | undefined,
  { json = false }: OutputOptions,
  config: Config,
): Promise<void> {
  const url = await postgresAddress(address ?? config.databaseUrl, context.stdin);
  const stopping = listenForInterruption(context);
  const tally = startTally('copied and checked', 'leaves', context.stderr);
  const done = { written: 0, checked: 0 };
  try {
    await using store = await openStore(url, { poolSize: 2 });
    if (!store.ledger) throw new Error('a store on PostgreSQL has a ledger');
    const { size, added, root } = await importLedger({
      directory: config.dataDirectory,
      origin: config.ledgerOrigin,
      now: () => new Date(),
      place: sharedLedgerOf(store.ledger).place,
      onProgress: ({ leaves, isChecking }) => {
        done[isChecking ? 'checked' : 'written'] = leaves;
        tally.set((done.written + done.checked) / 2);
      },
      signal: stopping.signal,
    });
    tally.stop();
    if (json) return printJson(context.stdout, { size, added, root: encodeBase64(root) });
    context.stdout.write(
      `${size} leaves checked, ${added} of them new in the database; the folder is closed, its ledger goes on there\n`,
    );
  } catch (error) {
    tally.stop();
    if (stopping.signal.aborted)
      throw new CommandError('interrupted: run it again, it goes on where it was', { exitCode: 130 });
    if (error instanceof LogError && error.code === 'moved')
      throw new CommandError(
        `nothing is left to bring over: the ledger of ${config.dataDirectory} has gone on in a database since an earlier run. All is done if STRATA_DATABASE_URL names that one`,
      );
    throw error;
  } finally {
    stopping.release();
  }
}
