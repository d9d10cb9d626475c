// `strata stack check-store`: damage of the database and of the ledger, with advice.

import { checkStore } from '@strata/db';
import type { Config } from '@strata/stack';
import { stackSchema } from '@strata/stack/store';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { counted, type OutputOptions, printJson } from '../../output.ts';
import { checkLedger } from './check-ledger.ts';

/** Throws CommandError (exit code 1) where there are findings. */
export async function checkStoreCommand(
  { stdout }: CommandContext,
  { json = false }: OutputOptions,
  config: Config,
): Promise<void> {
  const store = await checkStore(stackSchema, config.databaseUrl);
  const ledger = await checkLedger(config);
  const [checks, findings] = [
    [...store.checks, ...ledger.checks],
    [...store.findings, ...ledger.findings],
  ];
  if (json) printJson(stdout, { checks, findings });
  else if (findings.length === 0)
    stdout.write(`no damage found; ${counted(checks.length, 'check')}: ${checks.join(', ')}\n`);
  else for (const { what, advice } of findings) stdout.write(`${what}\n  ${advice}\n`);
  if (findings.length > 0) throw new CommandError(`${counted(findings.length, 'finding')} in the store`);
}
