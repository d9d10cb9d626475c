// `strata stack migrate-store`: copies the SQLite database to PostgreSQL, or back, and compares every row.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { copyStore, refuseUsedDatabase, sqliteFileOf } from '@strata/db';
import { DatabaseUrl } from '@strata/http';
import { ledgerIn, lockLog } from '@strata/log';
import type { Config } from '@strata/stack';
import { markCopied, stackSchema } from '@strata/stack/store';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { runInterruptible } from '../../interruption.ts';
import { counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';
import { rowCounts, startCounter } from '../../progress.ts';

export interface MigrateStoreOptions extends OutputOptions {
  readonly file?: string;
  readonly back?: boolean;
  readonly reopen?: boolean;
}

export async function migrateStoreCommand(
  context: CommandContext,
  address: string | undefined,
  { file: given, back = false, reopen = false, json = false }: MigrateStoreOptions,
  config: Config,
): Promise<void> {
  const { stdout } = context;
  const file = given ?? sqliteFileOf(config.databaseUrl);
  if (file === undefined)
    throw usageError(
      'the configured database is not an SQLite file; specify one with --file, or unset STRATA_DATABASE_URL',
    );
  const local = `sqlite:${file}`;
  // The copy of a file that is reopened: the configured database, unless another one is named.
  const copy = reopen && sqliteFileOf(config.databaseUrl) === undefined ? config.databaseUrl : '';
  const url = reopen && !address ? copy : await postgresAddress(address ?? '', context.stdin);
  using services = new DisposableStack();
  // Of the configured service, and of the one that has the file in its data directory.
  for (const directory of new Set([config.dataDirectory, path.dirname(file)].map((each) => path.resolve(each)))) {
    const ledger = ledgerIn(directory);
    if (existsSync(ledger)) services.use(lockLog(ledger));
  }
  if (reopen) {
    if (!existsSync(file)) throw usageError(`there is no ${file}`);
    if (url) await refuseUsedDatabase(url);
    markCopied(file, null);
    stdout.write(`${file} is in use again; it has none of what was written to its copy\n`);
    return;
  }
  const [source, target] = back ? [url, local] : [local, url];
  const startedAt = performance.now();
  const counter = startCounter('copied and compared', 'rows', context.stderr);
  const copied = rowCounts();
  // Before the copy: a kill after it would leave a file that still starts.
  const isMarked = !back && existsSync(file) && !markCopied(file, new Date());
  const copying = runInterruptible(context, { state: 'nothing was copied; run the same command again' }, (signal) =>
    copyStore(stackSchema, source, target, {
      onProgress: ({ table, rows, isComparing }) => counter.set(copied(`${table} ${isComparing}`, rows) / 2),
      signal,
    }),
  );
  const tables = await copying
    .catch((error: unknown) => {
      if (isMarked) unmark(file, context);
      throw error;
    })
    .finally(() => counter.stop());
  if (json) return printJson(stdout, tables);
  printTable(
    stdout,
    ['table', 'rows', 'SHA-256'],
    tables.map((each) => [each.table, String(each.rows), each.sha256]),
  );
  const total = tables.reduce((sum, each) => sum + each.rows, 0);
  const seconds = (performance.now() - startedAt) / 1_000;
  const next = back ? 'migrate-log --back' : 'migrate-log and set STRATA_DATABASE_URL to the new database';
  stdout.write(
    `${counted(total, 'row')} copied and compared in ${seconds.toFixed(1)} s; next, run strata stack ${next}\n`,
  );
}

/** After a failure, which is reported also if the mark cannot be removed. */
function unmark(file: string, { stderr }: CommandContext): void {
  try {
    markCopied(file, null);
  } catch (error) {
    const { message } = error as Error;
    stderr.write(`strata: ${file} is still marked as copied: run migrate-store --reopen (${plainText(message)})\n`);
  }
}

/** The URL from the argument, or from standard input for `-`. Throws CommandError (exit code 2) for an invalid one. */
export async function postgresAddress(address: string, stdin: CommandContext['stdin']): Promise<string> {
  const url = address === '-' ? (await text(stdin)).trim() : address;
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw usageError('the URL of the database must start with postgres://');
  const { error } = DatabaseUrl.safeParse(url);
  if (error) throw usageError(`the URL of the database ${error.issues[0]?.message}`);
  return url;
}
