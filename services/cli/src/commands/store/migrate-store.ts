// `strata stack migrate-store`: the SQLite database copied to PostgreSQL, row by row compared.

import { text } from 'node:stream/consumers';
import { sqliteFileOf } from '@strata/db';
import { DatabaseUrl } from '@strata/http';
import type { Config } from '@strata/stack';
import { copyToPostgres } from '@strata/store';
import { type CommandContext, listenForInterruption } from '../../context.ts';
import { CommandError, counted, type OutputOptions, printJson, printTable } from '../../output.ts';
import { startTally } from '../../progress.ts';

export interface MigrateStoreOptions extends OutputOptions {
  readonly from?: string;
}

export async function migrateStoreCommand(
  context: CommandContext,
  address: string,
  { from, json = false }: MigrateStoreOptions,
  config: Config,
): Promise<void> {
  const { stdout } = context;
  const file = from ?? sqliteFileOf(config.databaseUrl);
  if (file === undefined)
    throw new CommandError('the configured database is no SQLite file; name one with --from', { exitCode: 2 });
  const url = await postgresAddress(address, context.stdin);
  const stopping = listenForInterruption(context);
  const startedAt = performance.now();
  const tally = startTally('copied and compared', 'rows', context.stderr);
  const rows = new Map<string, number>();
  try {
    const tables = await copyToPostgres(file, url, {
      onProgress: ({ table, rows: done, isComparing }) => {
        rows.set(`${table} ${isComparing}`, done);
        tally.set(rows.values().reduce((sum, each) => sum + each, 0) / 2);
      },
      signal: stopping.signal,
    });
    tally.stop();
    if (json) return printJson(stdout, tables);
    printTable(
      stdout,
      ['table', 'rows', 'SHA-256'],
      tables.map((each) => [each.table, String(each.rows), each.sha256]),
    );
    const total = tables.reduce((sum, each) => sum + each.rows, 0);
    const seconds = (performance.now() - startedAt) / 1_000;
    stdout.write(
      `${counted(total, 'row')} copied and read again in ${seconds.toFixed(1)} s; bring the ledger over with strata stack migrate-log, then set STRATA_DATABASE_URL to the new address\n`,
    );
  } catch (error) {
    tally.stop();
    if (stopping.signal.aborted)
      throw new CommandError('interrupted: nothing is left of the copy; run it again', { exitCode: 130 });
    throw error;
  } finally {
    stopping.release();
  }
}

/** As it was given, or as standard input says. */
export async function postgresAddress(address: string, stdin: CommandContext['stdin']): Promise<string> {
  const url = address === '-' ? (await text(stdin)).trim() : address;
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new CommandError('the address of the new database must begin with postgres://', { exitCode: 2 });
  const { error } = DatabaseUrl.safeParse(url);
  if (error) throw new CommandError(`the address of the new database ${error.issues[0]?.message}`, { exitCode: 2 });
  return url;
}
